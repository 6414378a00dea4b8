import { expect, test } from "vitest"
import { z } from "zod"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a task of lifetime turn is stopped with its turn, also below a call that ended in the foreground", async () => {
  const started = new Map<string, TaskId>()
  const forever = defineTool({
    name: "wait_for_stop",
    description: "Runs until it is stopped.",
    input: z.object({}),
    background: { mode: "always" },
    run: (_input, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  })
  const starter = defineTool({
    name: "start_two",
    description: "Starts one that lives as long as the turn and one that goes on.",
    input: z.object({}),
    run: async (_input, { tasks }) => {
      for (const lifetime of ["turn", "runtime"] as const) {
        started.set(lifetime, (await tasks.start({ tool: "wait_for_stop", input: {}, lifetime })).id)
      }
      return "started"
    },
  })
  const model = createScriptedModel([{ calls: [{ tool: "start_two" }] }, "Done."])
  const { meanwhile } = await createWorkplace({ tools: [forever, starter], model })
  const session = await meanwhile.createSession()
  await session.send("Start them.")
  const idOf = (lifetime: string) => started.get(lifetime) ?? ""
  const ended = await eventually("the task ends with its turn", async () => {
    const { task } = await meanwhile.tasks.get(idOf("turn"))
    return task.status === "cancelled" ? task : undefined
  })
  expect(ended.stop).toMatchObject({ by: "lifetime", reason: "its turn ended" })
  expect((await meanwhile.tasks.get(idOf("runtime"))).task.status).toBe("running")
})
