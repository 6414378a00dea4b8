import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { call, createGatedCommand, lastAnswer, openBackground } from "../support/background/open-background.ts"

const INSTALL = { tool: "run_command", input: { name: "npm ci" } }
const start = { tool: "start_task", input: INSTALL }

describe("C15. The same work asked for twice while the first is alive: the model is told, and can join it", () => {
  test("in another turn, and again in the same message", async () => {
    const gated = createGatedCommand()
    const waitForIt: ScriptStep = (request) => {
      gated.calls[0]?.finish("installed")
      return call("wait_for", { tasks: [lastAnswer(request)["task_id"] ?? ""] })
    }
    const agent = await openBackground(
      [{ calls: [start, start] }, "It runs.", { calls: [start] }, waitForIt, "It is installed."],
      { vocabulary: "meanwhile", shell: [gated.tool] },
    )
    await agent.session.send("install")
    const { id } = await agent.task(1)
    const [first, second] = agent.answers()
    expect([first?.["task_id"], second?.["task_id"]]).toEqual([id.slice(0, 8), id.slice(0, 8)])
    expect(second?.["note"]).toContain("runs already")
    await agent.session.send("install, please")
    const [, , third, joined] = agent.answers()
    expect(third?.["note"]).toContain("nothing was started")
    expect(joined).toMatchObject({ reason: "met", tasks: [{ status: "completed", result: "installed" }] })
    expect(gated.calls).toHaveLength(1)
  })

  test("also if the kept task has its folder spelled out", async () => {
    const gated = createGatedCommand()
    const pin = (input: unknown) => ({ ...(input as object), cwd: "/here" })
    const agent = await openBackground([{ calls: [start, start] }, "It runs."], {
      vocabulary: "meanwhile",
      shell: [{ ...gated.tool, pin, input: z.looseObject({}) }],
    })
    await agent.session.send("install")
    expect((await agent.task(1)).input).toMatchObject({ cwd: "/here" })
    expect(agent.answers()[1]?.["note"]).toContain("runs already")
  })

  test("but it is started a second time with `again`", async () => {
    const gated = createGatedCommand()
    const again = { tool: "start_task", input: { ...INSTALL, again: true } }
    const agent = await openBackground([{ calls: [start] }, { calls: [again] }, "Both run."], {
      vocabulary: "meanwhile",
      shell: [gated.tool],
    })
    await agent.session.send("install twice")
    await gated.call(2)
    expect((await agent.task(1)).id).not.toBe((await agent.task(2)).id)
  })

  test("and work is started that has ended, or that another conversation does", async () => {
    const gated = createGatedCommand()
    const agent = await openBackground(
      [{ calls: [start] }, "Runs.", { calls: [start] }, "Runs.", { calls: [start] }, "Runs."],
      {
        vocabulary: "meanwhile",
        shell: [gated.tool],
      },
    )
    await agent.session.send("install")
    const install = await gated.call(1)
    install.finish()
    await agent.ended(1)
    await agent.session.send("again")
    await gated.call(2)
    const other = await agent.runtime.createSession()
    await other.send("install here too")
    await gated.call(3)
    expect(gated.calls).toHaveLength(3)
  })

  test("in the jaato vocabulary as well", async () => {
    const gated = createGatedCommand()
    const input = { tool_name: "runCommand", arguments: { name: "npm ci" } }
    const agent = await openBackground(
      [call("startBackgroundTask", input), call("startBackgroundTask", input), "It runs."],
      { shell: [gated.tool] },
    )
    await agent.session.send("install")
    const { id } = await agent.task(1)
    expect(agent.answers()[1]).toMatchObject({
      success: true,
      task_id: id,
      message: expect.stringContaining("runs in the background already"),
    })
  })
})
