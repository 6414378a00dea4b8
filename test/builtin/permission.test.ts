import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { createPermissionPlugin, type PermissionPluginOptions } from "../../src/builtin/permission/permission-plugin.ts"
import { commandLikeness } from "../../src/builtin/shell/command-likeness.ts"
import { commandParts } from "../../src/builtin/shell/command-parts.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { createEmbeddedEngine } from "../../src/engine/embedded/engine.ts"
import type { PersonChannel, Question } from "../../src/plugin/person-port.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import { createRunner } from "../../src/runner/runner.ts"
import { createSessionId } from "../../src/task/id.ts"
import { createFolder } from "../support/workplace.ts"

async function open(options: Partial<PermissionPluginOptions> = {}) {
  const directory = createFolder()
  const engine = await createEmbeddedEngine({ path: join(directory, "store.sqlite") })
  const registry = createRegistry()
  const { plugin, permission } = createPermissionPlugin({
    autoApproved: () => registry.autoApprovedTools(),
    findTool: (name) => registry.findTool(name),
    likenessOf: (owner, _tool, input) => (owner === "shell" ? commandLikeness(input) : undefined),
    partsOf: (owner, _tool, input) => (owner === "shell" ? commandParts(input) : { parts: [input], form: "call" }),
    ...options,
  })
  const environment = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
  await registry.register(createShellPlugin({ workingDirectory: directory, environment }))
  await registry.register(plugin)
  const runner = await createRunner({ engine, registry, permission, spoolDirectory: join(directory, "spool") })
  onTestFinished(async () => {
    await runner.close()
    await engine.close()
  })
  const session = createSessionId()
  const run = (command: string) => runner.execute({ tool: "run_command", input: { command }, session }).answer
  return { runner, run, session, has: (name: string) => existsSync(join(directory, name)) }
}

function createPerson(choose: (question: Question) => string) {
  const questions: Question[] = []
  const channel: PersonChannel = {
    name: "test",
    ask: async (question) => {
      questions.push(question)
      return { isAnswered: true, value: choose(question), by: "me" }
    },
  }
  return { channel, questions }
}

describe("a command under a policy", () => {
  test("runs without a question if it only reads", async () => {
    const { run } = await open()
    expect(await run("ls -a")).toMatchObject({ outcome: "completed" })
  })

  test("does not run when a rule denies it, and the caller is told why", async () => {
    const rules = [{ tool: "run_command", effects: ["write" as const], decision: "deny" as const, reason: "read only" }]
    const { run, has } = await open({ policy: { rules } })
    await expect(run("touch made")).rejects.toThrow(/not allowed: read only/)
    expect(has("made")).toBe(false)
  })

  test("runs by a rule for its text only if it is plain, and fits the rule as a whole", async () => {
    const rules = [{ tool: "run_command", arguments: { command: "touch made*" }, decision: "allow" as const }]
    const { run, has } = await open({ policy: { rules, mode: "deny_effects" } })
    for (const hidden of ["touch made; touch other", "touch made $(touch other)", "touch made > other"]) {
      await expect(run(hidden)).rejects.toThrow(/not allowed/)
    }
    expect(has("made") || has("other")).toBe(false)
    await run("touch made")
    await run("/usr/bin/touch  made1")
    expect(has("made") && has("made1")).toBe(true)
    await expect(run("touch made2 && touch made3")).rejects.toThrow(/not allowed/)
  })

  test("is refused by a rule for a command that is part of it", async () => {
    const rules = [{ tool: "run_command", arguments: { command: "touch other*" }, decision: "deny" as const }]
    const { run, has } = await open({ policy: { rules, mode: "allow_all" } })
    for (const hiding of ["cd . && touch  other", "env touch other", "sh -c 'touch other'", "/bin/touch other"]) {
      await expect(run(hiding)).rejects.toThrow(/a rule of the policy denies/)
    }
    expect(has("other")).toBe(false)
  })

  test("runs after a yes, not after a no, and without a question once the command is allowed always", async () => {
    const answers = ["no", "yes", "always", "no", "no"]
    const { channel, questions } = createPerson(({ options = [] }) => {
      const wanted = answers.shift() ?? ""
      return options.find((option) => option.startsWith(wanted)) ?? ""
    })
    const { run, has } = await open({ channel: () => channel })
    await expect(run("touch one")).rejects.toThrow(/the person said no/)
    expect(has("one")).toBe(false)
    await run("touch two")
    expect(has("two")).toBe(true)
    await run("touch three")
    await run("touch  three")
    expect(questions).toHaveLength(3)
    expect(questions[0]?.detail).toContain("touch one")
    await expect(run("touch four")).rejects.toThrow(/the person said no/)
    await expect(run("touch three; rm three")).rejects.toThrow(/the person said no/)
    expect(has("three")).toBe(true)
  })

  test("waits in the inbox while no person is there, and runs once a person says yes", async () => {
    const { run, runner, has } = await open()
    const answer = await run("touch made")
    if (answer.outcome !== "promoted" || answer.task.status !== "waiting") throw new Error("it should wait")
    expect(answer.task.wait).toMatchObject({ reason: "approval", question: { text: "Allow run_command? It writes." } })
    expect(has("made")).toBe(false)
    await runner.answer(answer.task.wait.id, true, "me")
    await runner.result(answer.task.id, { waitMs: 30_000 })
    expect(has("made")).toBe(true)
  })
})
