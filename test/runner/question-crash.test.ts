import { describe, expect, test } from "vitest"
import { answer, answersOf, ask, asker, COLOUR, NAME, nextQuestion, openAsking } from "../support/asking.ts"
import type { PermissionRequest } from "../../src/plugin/permission-request.ts"
import type { Runner } from "../../src/runner/runner.ts"
import type { TurnRun } from "../../src/runner/turn/turn-run.ts"
import { createSessionId, type TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

/** An agent that runs until it is stopped. */
const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true, onCrash: "retry" })

describe("a question whose asker's process is gone", () => {
  test("is found again when an agent's turn makes its call again, which still counts as a background call", async () => {
    const folder = createFolder()
    const inBackground: boolean[] = []
    const openLife = async (number: number) => {
      let created!: Runner
      const permission = {
        decide: async (request: PermissionRequest) => {
          if (request.tool === "asker") inBackground.push(await request.isInBackground())
          return { allowed: true } as const
        },
      }
      const body = async ({ taskId, run }: TurnRun) => {
        const askedBy = { taskId, run, key: "1/call" }
        const call = { tool: "asker", input: { questions: [NAME] }, parentTask: taskId, askedBy }
        const answer = await created.execute(call).answer
        return answer.outcome === "completed" ? answer.patch.payload : answer.outcome
      }
      const tools = [{ ...asker, background: { mode: "never" as const } }, agent.tool]
      const onCreated = (runner: Runner) => {
        created = runner
      }
      return { ...(await openAsking(folder, { tools, continueTurn: body, permission, onCreated }, number)), body }
    }
    const first = await openLife(1)
    const { id, workspace } = await first.runner.start({ tool: "agent", input: {} })
    const start = { session: createSessionId(), workspace, model: "a/b", title: "turn", traceId: null, operations: [] }
    const { taskId } = await first.runner.beginTurn({ ...start, parentTask: id }, first.body)
    const [wait] = await first.questions(1)
    first.life.end()
    const second = await openLife(2)
    await eventually("the call is made again", () => inBackground.length === 2)
    expect(await second.questions(1)).toMatchObject([{ id: wait?.id }])
    await answer(second, wait, "Otto")
    expect((await second.runner.result(taskId, { waitMs: 1e9 })).task).toMatchObject({ patch: { payload: ["Otto"] } })
    expect(inBackground).toEqual([true, true])
  })

  test("is found again by the same run, and is asked once", async () => {
    const folder = createFolder()
    const first = await openAsking(folder)
    const { id } = await ask(first, [NAME, COLOUR])
    const [wait] = await first.questions(1)
    await answer(first, wait, "Otto")
    const colour = await nextQuestion(first, wait)
    first.life.end()
    const second = await openAsking(folder, {}, 2)
    await eventually("it runs again", async () => {
      const task = await second.store.task(id)
      return task?.status === "running" && task.fence === 2
    })
    expect((await second.questions(1))[0]?.id).toBe(colour.id)
    await answer(second, colour, "red")
    expect(await answersOf(second, id)).toEqual(["Otto", "red"])
    expect(await second.store.countTasks({ tool: "question" })).toBe(2)
  })

  test("has cost the run no time that counts, not even at a shutdown", async () => {
    const folder = createFolder()
    const tools = [{ ...asker, kind: "agent" as const, timeoutMs: 10_000 }]
    const first = await openAsking(folder, { tools })
    const { id } = await ask(first, [NAME])
    const [wait] = await first.questions(1)
    await eventually("the run rests", () => {
      first.clock.advance(1_000)
      return first.clock.monotonic() > 60_000
    })
    expect(await first.store.task(id)).toMatchObject({ status: "running" })
    await first.runner.close()
    const left = await first.store.task(id)
    expect(left?.status).toBe("queued")
    expect(left?.ranMs).toBeLessThan(10_000)
    const second = await openAsking(folder, { tools }, 2)
    await eventually("it runs again", async () => (await second.store.task(id))?.status === "running")
    await answer(second, wait, "Otto")
    expect(await answersOf(second, id)).toEqual(["Otto"])
  })

  test("keeps its answer for the run, also when that goes on long after", async () => {
    const folder = createFolder()
    const tools = [{ ...asker, kind: "agent" as const }]
    const first = await openAsking(folder, { tools })
    const { id } = await ask(first, [NAME])
    const [wait] = await first.questions(1)
    await first.runner.close()
    const second = await openAsking(folder, { tools: [], background: { completedTaskRetentionSeconds: 10 } }, 2)
    await answer(second, wait, "Otto")
    await eventually("what was used is cleared away", async () => {
      second.clock.advance(10_000)
      return (await second.store.task(wait?.taskId as TaskId))?.strippedAt
    })
    await second.runner.close()
    expect(await answersOf(await openAsking(folder, { tools }, 3), id)).toEqual(["Otto"])
  })

  test("is withdrawn when that run may not go on", async () => {
    const folder = createFolder()
    const tools = [{ ...asker, onCrash: "fail" as const }]
    const first = await openAsking(folder, { tools })
    const { id } = await ask(first, [NAME])
    await first.questions(1)
    first.life.end()
    const second = await openAsking(folder, { tools }, 2)
    await eventually("the asker is interrupted", async () => (await second.store.task(id))?.status === "interrupted")
    await second.questions(0)
  })
})
