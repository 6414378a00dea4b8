import { createDeliveryHouse, type DeliveryHouse } from "./delivery-house.ts"
import { findDeliveryViolations } from "./delivery-invariants.ts"
import { type DeliveryPlan, type PlannedLife, toSessionId } from "./delivery-plan.ts"
import { openDelivery, playMoves, sayLastWords, settleDelivery } from "./delivery-scenario.ts"
import type { Life } from "./mortal-engine.ts"
import { withPatience } from "../patience.ts"
import { requireNone } from "./seed.ts"
import { describeTurnCrash } from "./turn-crash.ts"

/** Plays the lives of the plan, then one without a crash. Returns how many lives died before they were done. */
export async function playDelivery(plan: DeliveryPlan, store: string): Promise<number> {
  const house = createDeliveryHouse(plan, store)
  const name = plan.lives.map(({ crash }) => describeTurnCrash(crash)).join(", then ")
  let crashes = 0
  try {
    for (const planned of plan.lives) {
      const { isDone } = await live(house, plan, planned)
      if (!isDone) crashes += 1
    }
    await wait(house, checkPeacefulLife(house, plan), name)
    return crashes
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(`${name}: ${message}\n${JSON.stringify(plan)}`, { cause: error })
  } finally {
    await house.remove()
  }
}

/** Counts the commits of a life without a crash, from its opening until everything is told. */
export async function countCommits(plan: DeliveryPlan, store: string): Promise<number> {
  const house = createDeliveryHouse(plan, store)
  try {
    const { life } = await live(house, plan, { moves: plan.lives[0]?.moves ?? [] })
    return life.commits
  } finally {
    await house.remove()
  }
}

async function live(
  house: DeliveryHouse,
  plan: DeliveryPlan,
  { moves, crash }: Pick<PlannedLife, "moves"> & Partial<PlannedLife>,
): Promise<{ readonly life: Life; readonly isDone: boolean }> {
  const { life, opened } = await house.begin(crash)
  const work = opened.then(async (open) => {
    const delivery = await openDelivery(open, plan, life.number)
    await playMoves(delivery, moves)
    requireNone(await settleDelivery(delivery))
    return true
  })
  const isDone = await wait(house, Promise.race([work, life.over]), `life ${life.number}`)
  life.end()
  return { life, isDone: isDone === true }
}

async function checkPeacefulLife(house: DeliveryHouse, plan: DeliveryPlan): Promise<void> {
  const { life, opened } = await house.begin()
  const open = await opened
  const delivery = await openDelivery(open, plan, life.number)
  const overdue = await settleDelivery(delivery)
  await sayLastWords(delivery)
  const sessions = plan.sessions.map((_, index) => toSessionId(plan, index))
  requireNone([...overdue, ...(await findDeliveryViolations(open.store, sessions)), ...house.problems])
  await open.runtime.close()
}

function wait<Result>(house: DeliveryHouse, work: Promise<Result>, name: string): Promise<Result> {
  return withPatience(work, async () => `${name}\n${await house.describeLive()}`)
}
