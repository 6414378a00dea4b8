import { expect, onTestFinished, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createTask, RUNNING, sampleWait } from "../../src/engine/suite/samples.ts"
import { createSessionId, type SessionId, type TaskId } from "../../src/task/id.ts"
import { WAITING_FOR_TASKS } from "../../src/task/progress.ts"
import { NAME } from "../support/asking.ts"
import { createFolder } from "../support/workplace.ts"
import { openTestRuntime } from "../support/test-engine.ts"

/** A store in which tests place agents in any state: nobody takes work from it. */
async function openStanding() {
  const runtime = await openTestRuntime({ dataDirectory: createFolder(), takesWork: false })
  onTestFinished(() => runtime.close())
  return { desk: runtime.desk(LOCAL_PERSON), ...createStanding(runtime) }
}

function createStanding({ engine }: Runtime) {
  /** An agent below a task, and its turn, in a conversation of its own. */
  async function agent(session: SessionId | null, parentTask: TaskId | null, isWaiting: boolean) {
    const { id, run, fence } = await createTask(engine, RUNNING, { kind: "agent", session, parentTask })
    const progress = { done: null, total: null, phase: isWaiting ? WAITING_FOR_TASKS : "thinking", line: null }
    const facts = [{ type: "task.progressed", progress }] as const
    await engine.store.commit([{ op: "task.note", run: { taskId: id, run, fence }, facts }])
    const own = createSessionId()
    const turn = await createTask(engine, RUNNING, { kind: "turn", session: own, parentTask: id })
    return { id, own, turn: turn.id }
  }
  const queue = () => createTask(engine)
  const work = (session: SessionId, parentTask: TaskId) => createTask(engine, RUNNING, { session, parentTask })
  const wait = (session: SessionId, parentTask: TaskId, question: object) =>
    createTask(engine, { as: "waiting", wait: sampleWait(question) }, { session, parentTask })
  /** A running agent or tool that asks a question and stands still. */
  const ask = (session: SessionId, parentTask: TaskId) =>
    wait(session, parentTask, { question: { kind: "question", text: NAME.text, asked: { ...NAME } } })
  /** A call that needs an approval, while the agent that made it goes on. */
  const approve = (session: SessionId, parentTask: TaskId) =>
    wait(session, parentTask, { reason: "approval", question: { kind: "may_it_run", text: "May it run?" } })
  return { agent, queue, work, ask, approve }
}

test("a question holds up the call that asks and its agent, and not the agent above that", async () => {
  const { desk, agent, ask } = await openStanding()
  const above = await agent(null, null, false)
  const asking = await agent(above.own, above.turn, false)
  const question = await ask(asking.own, asking.turn)
  const blocked = await desk.blocked.byQuestion()
  expect(new Set(blocked.keys())).toEqual(new Set([question.id, asking.turn, asking.id]))
  expect(blocked.get(asking.id)?.map(({ task }) => task.id)).toEqual([question.id])
})

test("an agent that waits for its tasks is blocked once all of them are", async () => {
  const { desk, agent, ask, work } = await openStanding()
  const above = await agent(null, null, true)
  const asking = await agent(above.own, above.turn, false)
  await ask(asking.own, asking.turn)
  expect((await desk.blocked.byQuestion()).has(above.id)).toBe(true)
  await work(above.own, above.turn)
  expect((await desk.blocked.byQuestion()).has(above.id)).toBe(false)
})

test("an agent that waits for two tasks is blocked by the questions of both", async () => {
  const { desk, agent, ask, approve } = await openStanding()
  const above = await agent(null, null, true)
  const one = await agent(above.own, above.turn, false)
  const first = await ask(one.own, one.turn)
  const other = await agent(above.own, above.turn, true)
  const second = await approve(other.own, other.turn)
  const blocked = await desk.blocked.byQuestion()
  expect(blocked.get(above.id)?.map(({ task }) => task.id)).toEqual([first.id, second.id])
  expect(blocked.get(other.id)?.map(({ task }) => task.id)).toEqual([second.id])
})

test("a call that needs an approval holds up no agent that has other work", async () => {
  const { desk, agent, approve, work } = await openStanding()
  const going = await agent(null, null, false)
  const call = await approve(going.own, going.turn)
  expect([...(await desk.blocked.byQuestion()).keys()]).toEqual([call.id])
  const waiting = await agent(null, null, true)
  await approve(waiting.own, waiting.turn)
  await work(waiting.own, waiting.turn)
  expect((await desk.blocked.byQuestion()).has(waiting.id)).toBe(false)
})

test("all that is blocked is listed with the reason: a question, or that nobody can run it", async () => {
  const { desk, agent, approve, queue } = await openStanding()
  const waiting = await agent(null, null, true)
  const call = await approve(waiting.own, waiting.turn)
  const unserved = await queue()
  const listed = await desk.blocked.list()
  expect(listed.map(({ task, because }) => [task.id, because])).toEqual([
    [unserved.id, "missing"],
    [call.id, "question"],
    [waiting.id, "question"],
  ])
  expect(listed[0]).toMatchObject({ missing: { needs: "worker", text: expect.stringContaining("worker") as string } })
})
