import { expect, test } from "vitest"
import type { PermissionRequest } from "../../src/plugin/permission-request.ts"
import type { TurnRun } from "../../src/runner/turn/turn-run.ts"
import { createSessionId, DEFAULT_WORKSPACE, type TaskId } from "../../src/task/id.ts"
import { beginRunnerLife } from "../support/runner-life.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const START = { workspace: DEFAULT_WORKSPACE, model: "a/b", title: "turn", traceId: null, operations: [] }

/** Collects each call that permission was asked for, and whether it was made in the background. */
async function openAsked(body: (run: TurnRun) => Promise<null>) {
  const asked: [string, boolean][] = []
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const permission = {
    decide: async (request: PermissionRequest) => {
      asked.push([request.tool, await request.isInBackground()])
      return { allowed: true } as const
    },
  }
  const tools = [agent.tool, echo]
  const { runner } = await beginRunnerLife(createFolder(), { tools, permission, continueTurn: body })
  const takeTurn = async (parentTask: TaskId | null): Promise<void> => {
    const { ended } = await runner.beginTurn({ ...START, session: createSessionId(), parentTask }, body)
    await ended
  }
  return { runner, agent, asked, takeTurn }
}

test("a call below a task in the background counts as one that nobody waits for, whatever lies between", async () => {
  const { runner, agent, asked, takeTurn } = await openAsked(async (run) => {
    await runner.execute({ tool: "echo", input: {}, parentTask: run.taskId }).answer
    return null
  })
  const { id } = await runner.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  await context.tasks.execute({ tool: "echo", input: {} }).answer
  await takeTurn(id)
  expect(asked).toEqual([
    ["agent", false],
    ["echo", true],
    ["echo", true],
  ])
})

test("a call of a turn, or below a call that somebody waits for, is a foreground call until that one is promoted", async () => {
  const { runner, agent, asked, takeTurn } = await openAsked(async (run) => {
    await runner.execute({ tool: "echo", input: {}, parentTask: run.taskId }).answer
    return null
  })
  await takeTurn(null)
  const execution = runner.execute({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  await context.tasks.execute({ tool: "echo", input: {} }).answer
  await execution.promote()
  await context.tasks.execute({ tool: "echo", input: {} }).answer
  expect(asked.filter(([tool]) => tool === "echo").map(([, isBackground]) => isBackground)).toEqual([
    false,
    false,
    true,
  ])
})
