import { expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { createGatedTool } from "../support/tools.ts"

test.each(PLACES)(
  "the command tasks lists the tasks of its conversation, whichever plugins there are (%s)",
  async (_, isKept) => {
    const gated = createGatedTool({ obeys: true })
    const { session, runtime, model } = await openAgent([], { isKept, tools: [gated.tool] })
    expect(await session.runCommand("tasks")).toBe("No tasks yet. What takes long becomes one.")
    const other = await runtime.createSession()
    const call = { tool: "gated", input: {}, session: session.id }
    const { id } = await runtime.tasks.start({ ...call, title: "bake\u001b[31m a cake" })
    await gated.call(1)
    const below = await runtime.tasks.start({ ...call, parentTask: id, title: "whisk" })
    const foreign = await runtime.tasks.start({ ...call, session: other.id, title: "paint" })
    await gated.call(3)
    const short = (task: { readonly id: string }): string => task.id.slice(0, 8)
    expect(await session.runCommand("tasks")).toBe(
      [`${short({ id })}  running      bake [31m a cake`, `${short(below)}  running        whisk`].join("\n"),
    )
    const all = await session.runCommand("TASKS", "all")
    expect(all).toContain(`${short(foreign)}  running      paint`)
    expect(await other.runCommand("tasks")).not.toContain("cake")
    await expect(session.runCommand("tasks", "everything")).rejects.toMatchObject({ code: "invalid_input" })
    await expect(session.runCommand("task")).rejects.toMatchObject({ message: expect.stringContaining("tasks") })
    expect([session.history(), model.callCount]).toEqual([[], 0])
  },
)

test("a plugin's own command of that name goes before it", async () => {
  const userCommands = [{ name: "tasks", description: "list mine", run: () => "mine" }]
  const plugins = [definePlugin({ kind: "tool", name: "mine", tools: [], userCommands }), createSubagentPlugin()]
  const { session } = await openAgent([], { plugins })
  expect(await session.runCommand("tasks")).toBe("mine")
})
