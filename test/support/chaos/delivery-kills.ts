import { setTimeout as sleep } from "node:timers/promises"
import { withPatience } from "../patience.ts"
import type { Child } from "./child.ts"
import { findDeliveryViolations } from "./delivery-invariants.ts"
import { type DeliveryPlan, planDelivery, toSessionId } from "./delivery-plan.ts"
import { SETTLE } from "./delivery-protocol.ts"
import { openDelivery, sayLastWords, settleDelivery } from "./delivery-scenario.ts"
import { createDeliverySite, type DeliverySite, openRealDelivery, settledBy } from "./delivery-site.ts"
import { createRandom, type Random, requireNone } from "./seed.ts"

/** Of what a program does between its start and when everything is told, roughly. */
const COMMITS = 30

export interface DeliveryKills {
  readonly kills: number
  /** Before all was told. */
  readonly early: number
}

export async function playDeliveryKills(seed: number, engine?: string): Promise<DeliveryKills> {
  const random = createRandom(seed)
  const plan = planDelivery(seed, createRandom(seed))
  const site = createDeliverySite(engine)
  const dead: Child[] = []
  try {
    const isBeside = random.chance(0.2)
    if (isBeside) dead.push(...(await killBeside(site, random, seed)))
    else dead.push(await kill(site, random, seed, 0))
    if (random.chance(0.1)) dead.push(await kill(site, random, seed, 1))
    const told = dead.map(settledBy)
    // A message is refused while another program takes a turn in the same conversation.
    if (!isBeside) requireNone(told.flatMap((problems) => problems ?? []))
    await withPatience(checkPeacefulLife(site, plan), () => dead.map(({ lines }) => lines.join("\n")).join("\n"))
    return { kills: dead.length, early: told.filter((problems) => problems === undefined).length }
  } finally {
    site.remove()
  }
}

/** At an exact commit, or a while after it was ready; one that has told everything by then is killed all the same. */
async function kill(site: DeliverySite, random: Random, seed: number, life: number): Promise<Child> {
  const number = random.integer(1, COMMITS)
  const atCommit = { number, when: random.pick(["before", "after"] as const), signal: "SIGKILL" } as const
  const isExact = random.chance(0.7)
  const child = site.start({ seed, life, ...(isExact && { atCommit }) })
  if (isExact) await hasSettled(child)
  else {
    await child.said('"ready"')
    await sleep(random.integer(0, 50))
  }
  await child.kill()
  return child
}

/** Whatever came of it: what it says has failed is looked at later. */
async function hasSettled(child: Child): Promise<void> {
  await Promise.race([child.said('"settled"'), child.said('"failed"')])
}

/** Two programs have the same conversations open: the one that lives on tells what the other one left. */
async function killBeside(site: DeliverySite, random: Random, seed: number): Promise<readonly Child[]> {
  const beside = site.start({ seed })
  const first = await kill(site, random, seed, 0)
  await beside.said('"ready"')
  beside.send(SETTLE)
  if (random.chance(0.5)) await hasSettled(beside)
  else await sleep(random.integer(0, 40))
  await beside.kill()
  return [first, beside]
}

async function checkPeacefulLife({ place }: DeliverySite, plan: DeliveryPlan): Promise<void> {
  const problems: string[] = []
  const open = await openRealDelivery(place, plan, problems)
  try {
    const delivery = await openDelivery(open, plan, plan.lives.length + 1)
    const overdue = await settleDelivery(delivery)
    await sayLastWords(delivery)
    const sessions = plan.sessions.map((_, index) => toSessionId(plan, index))
    requireNone([...overdue, ...(await findDeliveryViolations(open.store, sessions)), ...problems])
  } finally {
    await open.runtime.close()
  }
}
