import { setTimeout as sleep } from "node:timers/promises"
import { withPatience } from "../patience.ts"
import type { Child } from "./child.ts"
import { findDeliveryViolations } from "./delivery-invariants.ts"
import { type DeliveryPlan, planDelivery, toSessionId } from "./delivery-plan.ts"
import { SETTLE } from "./delivery-protocol.ts"
import { openDelivery, sayLastWords, settleDelivery } from "./delivery-scenario.ts"
import { createDeliverySite, type DeliverySite, openRealDelivery, settledBy } from "./delivery-site.ts"
import { createRandom, isLong, type Random, requireNone } from "./seed.ts"

/** The deadly commit is among the first so many after the start. In the short form every program makes that many. */
const COMMITS = isLong ? 30 : 8

/** When a program dies: at an exact commit, at a random moment after it was ready, or after it has told everything. */
type When = "commit" | "moment" | "told"

interface Accident {
  readonly first: When
  /** A second death, after the next start. */
  readonly again?: When
  /**
   * Another program has the same conversations open, and tells what the first one left. It is killed too: after it has told
   * everything, or soon.
   */
  readonly other?: "settles" | "dies soon"
}

/**
 * The short form takes them in turn, so that as many seeds as there are accidents meet all of them. A program that
 * tells everything beside another one may wait for work that the other one runs.
 */
const ACCIDENTS: readonly [Accident, ...Accident[]] = [
  { first: "commit", again: "moment" },
  { first: "commit", other: "settles" },
  { first: "moment", other: "dies soon" },
  { first: "told", other: "dies soon" },
]

/** Every kind that a run must meet, whatever its length. */
export const DELIVERY_ACCIDENTS: ReadonlySet<string> = new Set(ACCIDENTS.flatMap(toKinds))

export interface DeliveryKills {
  readonly kills: number
  /** The kills that came before everything was told. */
  readonly early: number
  /** The kinds of accidents that happened. */
  readonly met: readonly string[]
}

export interface DeliveryKillsOptions {
  readonly seed: number
  /** The place of the seed among the seeds of the test run. */
  readonly index: number
  /** The URL of a store on a server. Without it, one in the folder. */
  readonly engine?: string
}

export async function playDeliveryKills({ seed, index, engine }: DeliveryKillsOptions): Promise<DeliveryKills> {
  const random = createRandom(seed)
  const plan = planDelivery(seed, createRandom(seed))
  const accident = planAccident(random, index)
  const { first, again, other } = accident
  const site = createDeliverySite(engine)
  const dead: Child[] = []
  try {
    if (other) dead.push(...(await killBeside(site, random, seed, { first, other })))
    else dead.push(await kill(site, random, { seed, life: 0, when: first }))
    if (again) dead.push(await kill(site, random, { seed, life: 1, when: again }))
    const told = dead.map(settledBy)
    // While another program takes a turn in the same conversation a message may be refused, which is no problem.
    if (!other) requireNone(told.flatMap((problems) => problems ?? []))
    await withPatience(checkPeacefulLife(site, plan), () => dead.map(({ lines }) => lines.join("\n")).join("\n"))
    const early = told.filter((problems) => problems === undefined).length
    // A program may have told everything before its commit came.
    const isMet = first !== "commit" || told[0] === undefined
    return { kills: dead.length, early, met: isMet ? toKinds(accident) : [] }
  } finally {
    site.remove()
  }
}

function planAccident(random: Random, index: number): Accident {
  if (!isLong) return ACCIDENTS[index % ACCIDENTS.length] ?? ACCIDENTS[0]
  const pickWhen = (): When => (random.chance(0.7) ? "commit" : random.pick(["moment", "moment", "told"]))
  return {
    first: pickWhen(),
    ...(random.chance(0.1) && { again: pickWhen() }),
    ...(random.chance(0.2) && { other: random.pick(["settles", "dies soon"]) }),
  }
}

function toKinds({ first, again, other }: Accident): readonly string[] {
  return [
    `${first}, ${other ? "beside another" : "alone"}`,
    ...(again ? ["again"] : []),
    ...(other ? [`the other ${other}`] : []),
  ]
}

interface KillOptions {
  readonly seed: number
  readonly life: number
  readonly when: When
}

/** A program that has told everything before its commit came is killed all the same. */
async function kill(site: DeliverySite, random: Random, { seed, life, when }: KillOptions): Promise<Child> {
  const number = random.integer(1, COMMITS)
  const atCommit = { number, when: random.pick(["before", "after"] as const), signal: "SIGKILL" } as const
  const child = site.start({ seed, life, ...(when === "commit" && { atCommit }) })
  if (when === "moment") {
    await child.said('"ready"')
    await sleep(random.integer(0, 50))
  } else await hasSettled(child)
  await child.kill()
  return child
}

/** Resolves when the program has settled or failed; a failure is looked at later. */
async function hasSettled(child: Child): Promise<void> {
  await Promise.race([child.said('"settled"'), child.said('"failed"')])
}

async function killBeside(
  site: DeliverySite,
  random: Random,
  seed: number,
  { first: when, other }: Accident,
): Promise<readonly Child[]> {
  const beside = site.start({ seed })
  // If the other program is ready first, it takes work for which the first one has no slot.
  if (when === "told") await beside.said('"ready"')
  const first = await kill(site, random, { seed, life: 0, when })
  await beside.said('"ready"')
  beside.send(SETTLE)
  if (other === "settles") await hasSettled(beside)
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
