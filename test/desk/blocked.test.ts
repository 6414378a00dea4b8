import { expect, onTestFinished, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import type { ListRow } from "../../src/desk/list-row.ts"
import { applyEvents, createTask, RUNNING, sampleWait } from "../../src/engine/suite/samples.ts"
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
  const release = (id: TaskId) => applyEvents(engine, id, { type: "task.released", reason: "shutdown", ranMs: 0 })
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
  return { agent, release, queue, work, ask, approve }
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

test("a list and the details of a task name the questions that hold it up", async () => {
  const { desk, agent, approve, queue } = await openStanding()
  const waiting = await agent(null, null, true)
  const call = await approve(waiting.own, waiting.turn)
  const unserved = await queue()
  const heldUp = (rows: readonly ListRow[]) =>
    rows.map(({ task, heldUpBy }) => [task.id, heldUpBy.map((item) => item.task.id)])
  const expected = [
    [unserved.id, []],
    [call.id, [call.id]],
    [waiting.id, [call.id]],
  ]
  expect(heldUp((await desk.tasks.rows({ kinds: "work" }, { limit: 9 })).items)).toEqual(expected)
  expect(new Set(heldUp((await desk.tasks.outline({ kinds: "work" }, 9)).rows))).toEqual(new Set(expected))
  expect((await desk.tasks.details(waiting.id)).heldUpBy.map(({ task }) => task.id)).toEqual([call.id])
  expect((await desk.tasks.details(unserved.id)).heldUpBy).toEqual([])
})

test("a program that waits for its work says of an agent that needs an answer only that, whoever may run it", async () => {
  const { desk, agent, release, approve, queue } = await openStanding()
  const above = await agent(null, null, false)
  const waiting = await agent(above.own, above.turn, true)
  const call = await approve(waiting.own, waiting.turn)
  await release(waiting.id)
  const { id: unserved } = await queue()
  const stop = new AbortController()
  const prompt = { session: above.own, saidAt: 0, started: new Set([waiting.id, unserved]) }
  const told: unknown[] = []
  for await (const event of desk.promptWork.settle(prompt, { signal: stop.signal, reported: async () => {} })) {
    if (event.type === "work.settled") continue
    told.push([event.type, event.type === "question.opened" ? event.item.task.id : event.task.id])
    if (event.type === "task.unserved") stop.abort()
  }
  expect(told).toEqual([
    ["question.opened", call.id],
    ["task.unserved", unserved],
  ])
})
