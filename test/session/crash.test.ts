import { expect, onTestFinished, test } from "vitest"
import { createTurnHouse, type HouseOptions, type OpenHouse, type TurnHouse } from "../support/chaos/turn-house.ts"
import { findTurnViolations } from "../support/chaos/turn-invariants.ts"
import { readStoredSession } from "../support/chaos/turn-record.ts"
import { createScenario, finishTurn, goOn, type TurnScenario } from "../support/chaos/turn-scenario.ts"
import { eventually } from "../support/eventually.ts"

const SCENARIO = createScenario("crash", [
  ["look", "note"],
  ["pay", "build"],
])

interface Holding {
  readonly house: TurnHouse
  /** Lets the house go on, and holds nothing more. */
  release(): void
}

/** A house in which nothing goes on after this effect. */
function holdAt(effect: string, options: HouseOptions = {}): Holding {
  const held = Promise.withResolvers<void>()
  let isOver = false
  const hold = (what: string): Promise<void> | undefined => (what === effect && !isOver ? held.promise : undefined)
  const house = createTurnHouse({ ...options, hold })
  onTestFinished(() => house.remove())
  return {
    house,
    release() {
      isOver = true
      held.resolve()
    },
  }
}

/** Begins the turn, and shuts down right after this effect. */
async function shutDownAt({ house, release }: Holding, effect: string): Promise<void> {
  const { runtime } = await (await house.begin()).opened
  const session = await runtime.createSession({ id: SCENARIO.session })
  const sent = session.send(SCENARIO.prompt).catch(() => "handed back")
  await eventually(effect, () => house.effects.includes(effect))
  await runtime.close()
  release()
  expect(await sent).toBe("handed back")
}

async function reopen(house: TurnHouse): Promise<OpenHouse> {
  const open = await (await house.begin()).opened
  onTestFinished(() => open.runtime.close())
  return open
}

async function checkEnd(
  house: TurnHouse,
  open: OpenHouse,
  {
    answers = 0,
    crashes = 1,
    scenario = SCENARIO,
  }: { answers?: number; crashes?: number; scenario?: TurnScenario } = {},
): Promise<ReadonlyMap<string, string>> {
  await goOn(open, scenario)
  const effects = [...house.effects]
  expect(await findTurnViolations(open.store, { ...scenario, effects, crashes, answers })).toEqual([])
  return (await readStoredSession(open.store, scenario.session))?.answers ?? new Map()
}

test("a shutdown during a model call hands the turn back, and the next start asks again", async () => {
  const holding = holdAt("asked crash 1")
  await shutDownAt(holding, "asked crash 1")
  const open = await reopen(holding.house)
  await finishTurn(open.runtime)
  const answers = await checkEnd(holding.house, open)
  expect(answers.get("call-0-note")).toBe("the result of 0.note")
  expect(holding.house.effects.filter((effect) => effect === "asked crash 1")).toHaveLength(2)
})

test("a shutdown during a call that may not be repeated tells the model at the next start that it was stopped", async () => {
  const holding = holdAt("did 0.note")
  await shutDownAt(holding, "did 0.note")
  const open = await reopen(holding.house)
  await finishTurn(open.runtime)
  const answers = await checkEnd(holding.house, open)
  expect(answers.get("call-0-note")).toMatch(/^It was stopped because its worker was shut down/)
})

test("a shutdown during a call that must be asked about leaves a question, and goes on after a yes", async () => {
  const holding = holdAt("did 1.pay")
  await shutDownAt(holding, "did 1.pay")
  const open = await reopen(holding.house)
  const [wait] = await open.store.waits({ isOpen: true })
  expect(wait?.question).toMatchObject({ kind: "repeat_after_crash" })
  expect(holding.house.effects.filter((effect) => effect === "did 1.pay")).toHaveLength(1)
  let answers = 0
  await finishTurn(open.runtime, () => (answers += 1))
  expect(answers).toBe(1)
  await checkEnd(holding.house, open, { answers })
  expect(holding.house.effects.filter((effect) => effect === "did 1.pay")).toHaveLength(2)
})

test("a turn that was continued after a crash survives a shutdown as well", async () => {
  const holding = holdAt("asked crash 1")
  const { house, release } = holding
  const first = await house.begin({ at: "effect", number: 3, when: "after" })
  const dying = await first.opened
  void (await dying.runtime.createSession({ id: SCENARIO.session })).send(SCENARIO.prompt)
  await first.life.over
  const { runtime } = await (await house.begin()).opened
  await eventually("the turn goes on", () => house.effects.includes("asked crash 1"))
  await runtime.close()
  release()
  const open = await reopen(house)
  await finishTurn(open.runtime)
  await checkEnd(house, open, { crashes: 2 })
})

test("a message that was accepted is answered, whichever process died since", async () => {
  const holding = holdAt("asked crash 0")
  const { life, opened } = await holding.house.begin()
  const { runtime, store } = await opened
  const session = await runtime.createSession({ id: SCENARIO.session })
  void session.send(SCENARIO.prompt)
  await eventually("the turn has begun", async () => (await store.countTasks({ kinds: ["turn"] })) === 1)
  life.end()
  holding.release()
  const open = await reopen(holding.house)
  await finishTurn(open.runtime)
  await checkEnd(holding.house, open)
})

test("a message sent while a turn is being continued has its own turn after it", async () => {
  const holding = holdAt("asked crash 1")
  const { house, release } = holding
  const first = await house.begin({ at: "effect", number: 3, when: "after" })
  const dying = await first.opened
  void (await dying.runtime.createSession({ id: SCENARIO.session })).send(SCENARIO.prompt)
  await first.life.over
  const open = await reopen(house)
  await eventually("the turn goes on", () => house.effects.includes("asked crash 1"))
  const session = await open.runtime.openSession(SCENARIO.session)
  expect(session.isBusy).toBe(true)
  const sent = session.send("And you?")
  release()
  expect((await sent).text).toBe("I have heard.")
  await finishTurn(open.runtime)
  await checkEnd(house, open)
})

test("a message sent at once after a restart has its turn after the one that was left", async () => {
  const claims = Promise.withResolvers<void>()
  let isHeld = false
  const { house } = holdAt("nothing", { beforeClaims: () => (isHeld ? claims.promise : undefined) })
  const first = await house.begin({ at: "effect", number: 3, when: "after" })
  const dying = await first.opened
  void (await dying.runtime.createSession({ id: SCENARIO.session })).send(SCENARIO.prompt)
  await first.life.over
  isHeld = true
  const open = await reopen(house)
  const session = await open.runtime.openSession(SCENARIO.session)
  const sent = session.send("Are you there?")
  const refused = await Promise.race([sent.catch((error: unknown) => error), manyMoments()])
  expect(refused).toBe("nothing yet")
  claims.resolve()
  expect((await sent).text).toBe("I have heard.")
  await finishTurn(open.runtime)
  await checkEnd(house, open)
})

/** More turns of the event loop than a refusal takes. */
async function manyMoments(): Promise<string> {
  for (let moment = 0; moment < 50; moment++) await new Promise<void>((resolve) => setImmediate(resolve))
  return "nothing yet"
}
