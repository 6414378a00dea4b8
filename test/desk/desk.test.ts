import { expect, test } from "vitest"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { OTHERS } from "../support/desk/open-desks.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent } from "../support/session/open-agent.ts"

/** A turn in the workspace of the local person, and one in another, while the model of both is asked. */
async function openBusy() {
  const gates = [createGate(), createGate()] as const
  const script = gates.map((gate) => () => ({ gate: gate.pass(), text: "Hello." }))
  const { runtime, session } = await openAgent(script, { isKept: true })
  const foreign = await runtime.createSession({ workspace: OTHERS })
  const desk = runtime.desk(LOCAL_PERSON)
  const others = runtime.desk({ workspace: OTHERS, actor: "mallory" })
  async function say(): Promise<void> {
    const sent = [session.send("Good morning.")]
    await gates[0].reached
    sent.push(foreign.send("Good evening."))
    await gates[1].reached
    for (const gate of gates) gate.open()
    await Promise.all(sent)
  }
  return { session, foreign, desk, others, gates, say }
}

test("a desk hears the agents of its own workspace, and shows what they do", async () => {
  const { session, foreign, desk, others, say } = await openBusy()
  const heard = { desk: new Set<string>(), others: new Set<string>() }
  const activity = { desk: desk.activity(), others: others.activity() }
  const seen: unknown[] = []
  const stop = desk.on((event) => {
    heard.desk.add(event.agent)
    activity.desk.take(event)
    seen.push(activity.desk.list(false).map(({ agent, state }) => [agent, state]))
  })
  others.on((event) => {
    heard.others.add(event.agent)
    activity.others.take(event)
  })
  await say()
  expect([[...heard.desk], [...heard.others]]).toEqual([[session.id], [foreign.id]])
  expect(seen).toContainEqual([[session.id, "thinking"]])
  expect([activity.desk.list(false), activity.others.list(false)]).toEqual([[], []])
  stop()
  heard.desk.clear()
  await session.send("And again.").catch(() => {})
  expect([...heard.desk]).toEqual([])
})

test("the ledger of a desk counts the model calls of its workspace", async () => {
  const { session, foreign, desk, others, say } = await openBusy()
  await say()
  const keysOf = async ({ ledger }: typeof desk) => (await ledger.totals("session")).map(({ key }) => key)
  expect([await keysOf(desk), await keysOf(others)]).toEqual([[session.id], [foreign.id]])
  const refused = desk.ledger.totals("session", { session: foreign.id })
  await expect(refused).rejects.toMatchObject({ code: "not_found" })
})
