import { join } from "node:path"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { textOf } from "../../src/plugin/message.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf, spawn } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

for (const [where, isKept] of PLACES) {
  test(`a follow-up goes to the same conversation with its whole history, as another run that counts (${where})`, async () => {
    const opened = await openSubagents({ isKept, main: [], below: ["Seven.", "Eight."] })
    const first = await endOf(opened, await startAgent(opened, { task: "Count." }))
    expect(first).toMatchObject({ run: 1, resumeCount: 0 })
    const begun = await opened.runtime.tasks.resume(first.id, "And one more?")
    expect(begun).toMatchObject({ id: first.id, run: 2, resumeCount: 1 })
    const second = await endOf(opened, first)
    expect(second).toMatchObject({ status: "completed", resumeCount: 1, patch: { payload: { answer: "Eight." } } })
    const said = requestsOf(opened.provider, "below")[1]?.messages.map((message) => textOf(message)) ?? []
    expect(said[0]).toContain("Count.")
    expect(said.slice(1)).toEqual(["Seven.", "And one more?"])
    const session = (task: typeof first) =>
      task.status === "completed" && (task.patch.payload as { session: string }).session
    expect(session(second)).toBe(session(first))
  })

  test(`D1: completed only; a second concurrent resume is refused (${where})`, async () => {
    const [working, resumed] = [createGate(), createGate()]
    const opened = await openSubagents({
      isKept,
      main: [],
      below: [() => ({ gate: working.pass(), text: "One." }), () => ({ gate: resumed.pass(), text: "Two." })],
    })
    const { tasks } = opened.runtime
    const { id } = await startAgent(opened)
    await working.reached
    await expect(tasks.resume(id, "More.")).rejects.toThrow(/only completed tasks can be resumed/)
    working.open()
    await endOf(opened, { id })
    const both = await Promise.allSettled([tasks.resume(id, "More."), tasks.resume(id, "More.")])
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
    await resumed.reached
    await expect(tasks.resume(id, "Even more.")).rejects.toThrow(/currently being resumed/)
    resumed.open()
    expect(await endOf(opened, { id })).toMatchObject({ run: 2, resumeCount: 1 })
    expect(requestsOf(opened.provider, "below")).toHaveLength(2)
  })

  test(`its notice is told once for each run, with the whole answer (${where})`, async () => {
    const opened = await openSubagents({ isKept, main: ["First.", "Second.", "Third."], below: ["Seven.", "Eight."] })
    const { runtime, session, provider } = opened
    await session.send("Hello.")
    const { id } = await endOf(opened, await startAgent(opened))
    await session.send("And?")
    await runtime.tasks.resume(id, "And one more?")
    await endOf(opened, { id })
    await session.send("And now?")
    const told = requestsOf(provider, "main").map(({ messages }) => JSON.stringify(messages.at(-1)))
    expect(told[1]).toContain("Seven.")
    expect(told[2]).toContain("Eight.")
    expect(told[2]).not.toContain("Seven.")
  })
}

test("an agent can be resumed after a restart, with its full history", async () => {
  const dataDirectory = join(createFolder(), "data")
  const first = await openSubagents({ dataDirectory, main: ["Hello."], below: ["Seven."] })
  await first.session.send("Hello.")
  const { id } = await endOf(first, await startAgent(first, { task: "Count." }))
  await first.runtime.close()
  const second = await openSubagents({ dataDirectory, main: [], below: ["Eight."] })
  await second.runtime.tasks.resume(id, "And one more?")
  expect(await endOf(second, { id })).toMatchObject({ run: 2, patch: { payload: { answer: "Eight." } } })
  const said = requestsOf(second.provider, "below")[0]?.messages.map((message) => textOf(message)) ?? []
  expect(said.at(0)).toContain("Count.")
  expect(said.slice(1)).toEqual(["Seven.", "And one more?"])
})

test("an agent whose call was made again after a shutdown can be resumed", async () => {
  const dataDirectory = join(createFolder(), "data")
  const clock = createManualClock()
  const stuck = [{ gate: new Promise(() => {}) }]
  const first = await openSubagents({ dataDirectory, clock, main: [spawn("Count.")], below: stuck })
  first.session.send("Go.").catch(() => {})
  await eventually("it works", () => requestsOf(first.provider, "below").length === 1)
  await first.runtime.close()
  const gate = createGate()
  const below = [() => ({ gate: gate.pass(), text: "Seven." }), "Eight."]
  const again = createManualClock(clock.now())
  const second = await openSubagents({ dataDirectory, clock: again, main: ["It counts."], below })
  await gate.reached
  // The call that is made again finds its agent's turn long before ten seconds are over: it has to ask the store a few times.
  for (let asked = 0; asked < 50; asked++) await second.runtime.tasks.list({ kinds: ["agent"] })
  // Once: a model that says nothing for a minute is given up.
  again.advance(10_000)
  const task = await eventually("the call moves to the background", async () => {
    return (await second.runtime.tasks.list({ kinds: ["agent"] })).items[0]
  })
  gate.open()
  expect(await endOf(second, task)).toMatchObject({ patch: { payload: { answer: "Seven." } } })
  await second.runtime.tasks.resume(task.id, "And one more?")
  expect(await endOf(second, task)).toMatchObject({ run: 2, patch: { payload: { answer: "Eight." } } })
})

test("D1: an expired session gives the suggestion to start anew", async () => {
  const opened = await openSubagents({ main: [], below: ["Seven."] })
  const { runtime } = opened
  const task = await endOf(opened, await startAgent(opened))
  const child = task.status === "completed" ? (task.patch.payload as { session: never }).session : undefined
  expect(await runtime.sessions.delete(child as never)).toBe(true)
  await expect(runtime.tasks.resume(task.id, "More.")).rejects.toMatchObject({
    code: "expired",
    message: expect.stringMatching(/Start a new task/),
  })
  expect((await runtime.tasks.get(task.id)).task).toMatchObject({ status: "completed", run: 1, resumeCount: 0 })
})

test("a follow-up that failed is retried in the same conversation", async () => {
  const below = ["Seven.", { error: { code: "model_refused", message: "No." } }, "Eight."] as const
  const opened = await openSubagents({ main: [], below })
  const { id } = await endOf(opened, await startAgent(opened))
  await opened.runtime.tasks.resume(id, "And one more?")
  expect(await endOf(opened, { id })).toMatchObject({ status: "failed", run: 2 })
  await opened.runtime.tasks.retry(id)
  expect(await endOf(opened, { id })).toMatchObject({ run: 3, patch: { payload: { answer: "Eight." } } })
  const said = requestsOf(opened.provider, "below")[2]?.messages.map((message) => textOf(message)) ?? []
  expect(said).toContain("Seven.")
})

test("an agent that is retried begins with a conversation of its own, and that one is resumed", async () => {
  const below = [{ error: { code: "model_refused", message: "No." } }, "Seven.", "Eight."] as const
  const opened = await openSubagents({ main: [], below })
  const { id } = await endOf(opened, await startAgent(opened, { handover: "none" }))
  await opened.runtime.tasks.retry(id)
  await endOf(opened, { id })
  await opened.runtime.tasks.resume(id, "And one more?")
  expect(await endOf(opened, { id })).toMatchObject({ run: 3, patch: { payload: { answer: "Eight." } } })
  const said = requestsOf(opened.provider, "below")[2]?.messages.map((message) => textOf(message))
  expect(said).toEqual(["Work.", "Seven.", "And one more?"])
})

test("a call gets no conversation but its own, whatever it names", async () => {
  const opened = await openSubagents({ main: [], below: ["Seven.", "Stolen."] })
  const task = await endOf(opened, await startAgent(opened))
  const resumes = task.status === "completed" ? (task.patch.payload as { session: never }).session : undefined
  const other = await endOf(opened, await startAgent(opened, { resumes: resumes as never }))
  expect(other).toMatchObject({ status: "failed", failure: { code: "expired" } })
  expect(requestsOf(opened.provider, "below")).toHaveLength(1)
})
