import { expect, onTestFinished, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import type { TaskNewsDesk } from "../../src/desk/task-news.ts"
import type { SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openScripted } from "../support/session/open-agent.ts"
import { createGatedTool } from "../support/tools.ts"

const BEGIN = { calls: [{ tool: "gated", input: { name: "one" } }] }
const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id)

/** A program with a conversation in which one message was answered, and a second program that opened the same one. */
async function openTwice() {
  const gated = createGatedTool({ obeys: true, background: { mode: "always" } })
  const gate = createGate()
  const answers = ["Hello.", BEGIN, () => ({ gate: gate.pass(), text: "It goes on." })]
  const { runtime: first, folder } = await openScripted(createScriptedModel(answers), {
    tools: [gated.tool],
    isKept: true,
  })
  const session = await first.createSession()
  await session.send("Hello.")
  const { runtime: second } = await openScripted(createScriptedModel([]), {
    isKept: true,
    folder,
    takesWork: false,
  })
  return { gated, gate, first, second, session }
}

async function follow(runtime: Runtime, conversation: SessionId): Promise<TaskNewsDesk> {
  const isHere = (session: SessionId): boolean => session === conversation
  const news = runtime.desk(LOCAL_PERSON).news({ isHere, areReportsOn: false, onNews: () => {} })
  onTestFinished(() => news.close())
  await news.followLive(conversation)
  return news
}

test("a program that leaves a conversation finds what another program has begun for it since", async () => {
  const { gated, gate, first, second, session } = await openTwice()
  const news = await follow(second, session.id)
  expect((await news.departure()).elsewhere).toEqual([])
  gate.open()
  await session.send("Begin.")
  await gated.call(1)
  const { items } = await first.tasks.list({ session: session.id, kinds: ["tool"] }, { limit: 2 })
  const { elsewhere, here, queued } = await news.departure()
  expect(idsOf(elsewhere)).toEqual(idsOf(items))
  expect([here, queued]).toEqual([[], []])
})

test("what a turn of the program itself has begun was asked for here, also before any event has named it", async () => {
  const { gated, gate, first, session } = await openTwice()
  const news = await follow(first, session.id)
  const sent = session.send("Begin.")
  await gated.call(1)
  await gate.reached
  const { here, turns, own } = await eventually("the task is followed", async () => {
    const departure = await news.departure()
    return departure.here.length === 1 && departure
  })
  expect([...own]).toEqual(idsOf([...here, ...turns]))
  expect(turns).toMatchObject([{ title: "Begin.", session: session.id }])
  gate.open()
  await sent
})
