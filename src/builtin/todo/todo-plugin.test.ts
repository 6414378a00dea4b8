import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import type { ToolContext } from "../../plugin/context.ts"
import { createTestDocuments } from "../../../test/support/plugin/documents.ts"
import { textOf } from "../../plugin/message.ts"
import { createRegistry } from "../../plugin/registry.ts"
import { contentOf, isToolReturn } from "../../plugin/tool.ts"
import type { CommandContext } from "../../plugin/user-command.ts"
import { DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../../task/id.ts"
import { createTodoPlugin, type TodoPluginOptions } from "./todo-plugin.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-todo-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function open(options: TodoPluginOptions = {}, documents = createTestDocuments()) {
  const plugin = createTodoPlugin(options)
  const toContext = (session: string | null, workspace: string) => ({
    session: session as SessionId | null,
    workspace: workspace as WorkspaceId,
    documents: documents(`${workspace}/${session}`),
    log: { warn: () => undefined },
  })
  return {
    plugin,
    call: async (
      name: string,
      input: unknown,
      session: string | null = "talk",
      workspace: string = DEFAULT_WORKSPACE,
    ) => {
      const tool = plugin.tools.find((each) => each.name === name)
      if (!tool) throw new Error(`there is no tool ${name}`)
      const context = toContext(session, workspace) as unknown as ToolContext
      const returned = await tool.run(parsed(tool.input, input), context)
      if (!isToolReturn(returned) || !("patch" in returned)) throw new Error("the tool handed back no patch")
      return textOf({ role: "user", parts: contentOf(returned.patch.payload) ?? [] })
    },
    show: (session = "talk") =>
      plugin.userCommands?.[0]?.run("", toContext(session, DEFAULT_WORKSPACE) as unknown as CommandContext),
  }
}

const STEPS = ["Write the notes", "Run the tests", "Tag it", "Publish", "Tell people"]

describe("a plan", () => {
  it("is made, kept up to date and shown with a mark for each step", async () => {
    const { call, show } = open()
    await call("createPlan", { title: "Release", steps: STEPS })
    await call("updateStep", { step: 1, status: "completed" })
    await call("updateStep", { step: 2, status: "failed", note: "two are red" })
    await call("updateStep", { step: 3, status: "skipped" })
    const shown = await call("updateStep", { step: 4, status: "in_progress" })
    expect(shown).toBe(
      [
        "Release: 3 of 5 steps ended",
        "✔ 1. Write the notes",
        "✘ 2. Run the tests (failed) — two are red",
        "– 3. Tag it (skipped)",
        "▶ 4. Publish",
        "○ 5. Tell people",
      ].join("\n"),
    )
    expect(await call("getPlanStatus", {})).toBe(shown)
    expect(await show()).toBe(shown)
  })

  it("belongs to one conversation of one workspace", async () => {
    const { call, show } = open()
    await call("createPlan", { steps: ["mine"] }, "first")
    await call("createPlan", { steps: ["elsewhere"] }, "second", "other")
    expect(await call("getPlanStatus", {}, "first")).toContain("mine")
    await expect(call("getPlanStatus", {}, "second")).rejects.toMatchObject({ code: "not_found" })
    await expect(call("getPlanStatus", {}, null)).rejects.toThrow("createPlan")
    expect(await show("second")).toBe("There is no plan in this conversation.")
  })

  it("says so when it replaces an unfinished plan", async () => {
    const { call } = open()
    await call("createPlan", { steps: ["a", "b"] })
    expect(await call("createPlan", { steps: ["a", "b"] })).not.toContain("replaces")
    expect(await call("createPlan", { steps: ["c"] })).toContain("replaces a plan with 2 steps that had not ended")
  })

  it("keeps every one of the steps that are updated at once", async () => {
    const { call } = open()
    await call("createPlan", { steps: STEPS })
    await Promise.all(STEPS.map((_, index) => call("updateStep", { step: index + 1, status: "completed" })))
    expect(await call("getPlanStatus", {})).toContain("5 of 5 steps ended")
  })

  it("has plain lines only: characters that would act on the screen are taken out", async () => {
    const { call } = open()
    expect(await call("createPlan", { steps: ["a\n✔ 2. forged\u001b[2J"] })).toBe(
      "Plan: 0 of 1 steps ended\n○ 1. a ✔ 2. forged [2J",
    )
  })

  it.each([
    ["createPlan", { steps: [] }],
    ["createPlan", { steps: [" \n"] }],
    ["createPlan", { steps: ["x".repeat(401)] }],
    ["updateStep", { step: 0, status: "completed" }],
    ["updateStep", { step: 6, status: "completed" }],
    ["updateStep", { step: 1, status: "done" }],
  ])("refuses %s %o and stays as it is", async (tool, input) => {
    const { call } = open()
    const before = await call("createPlan", { steps: STEPS })
    await expect(call(tool, input)).rejects.toThrow()
    expect(await call("getPlanStatus", {})).toBe(before)
  })
})

describe("a plan that an earlier version kept as a file", () => {
  const write = (directory: string, name: string, text: string) => writeFileSync(join(directory, name), text)

  it("is migrated once, by the first of its conversation that asks, and goes on", async () => {
    const directory = createFolder()
    const step = (text: string) => ({ text, status: "pending" })
    for (const session of ["talk", "other", "..%2F..%2Fup"])
      write(directory, `default.${session}.json`, JSON.stringify({ title: session, steps: [step("a"), step("b")] }))
    const documents = createTestDocuments()
    const { call, show } = open({ directory }, documents)
    expect(await show("talk")).toContain("talk: 0 of 2")
    expect(readdirSync(directory).toSorted()).toEqual(["default...%2F..%2Fup.json", "default.other.json"])
    expect(await call("updateStep", { step: 2, status: "completed" }, "other")).toContain("✔ 2. b")
    expect(await call("createPlan", { steps: ["c"] }, "../../up")).toContain("replaces a plan with 2 steps")
    expect(readdirSync(directory)).toEqual([])
    expect(await open({ directory }, documents).call("getPlanStatus", {}, "other")).toContain("other: 1 of 2")
  })

  it("does not replace a plan that the conversation has already", async () => {
    const directory = createFolder()
    const { call } = open({ directory })
    await call("createPlan", { title: "newer", steps: ["a"] })
    write(directory, "default.talk.json", JSON.stringify({ title: "older", steps: [] }))
    expect(await call("getPlanStatus", {})).toContain("newer")
  })

  it("is refused when it is damaged, and replaced by a new plan", async () => {
    const directory = createFolder()
    write(directory, "default.talk.json", "{")
    const { call } = open({ directory })
    await expect(call("getPlanStatus", {})).rejects.toMatchObject({ code: "store_damaged" })
    await expect(call("updateStep", { step: 1, status: "completed" })).rejects.toThrow("createPlan")
    expect(await call("createPlan", { steps: ["a"] })).toContain("1. a")
    expect(readdirSync(directory)).toEqual([])
  })

  it("must be in an absolute path", () => {
    expect(() => createTodoPlugin({ directory: "plans" })).toThrow("absolute")
  })
})

it("needs no permission and tells the model when to plan", async () => {
  const registry = createRegistry()
  await registry.register(createTodoPlugin())
  expect(registry.autoApprovedTools().map(({ tool }) => tool)).toEqual(["createPlan", "updateStep", "getPlanStatus"])
  expect(registry.systemInstructions()[0]?.text).toContain("createPlan")
  expect(registry.userCommands()[0]?.command).toMatchObject({ name: "plan", shareWithModel: false })
})
