import { createInterface } from "node:readline"
import { toErrorMessage } from "../../../src/base/error.ts"
import { planDelivery } from "../chaos/delivery-plan.ts"
import { type DeliveryOrders, type DeliveryReport, SETTLE } from "../chaos/delivery-protocol.ts"
import { openRealDelivery } from "../chaos/delivery-site.ts"
import { openDelivery, playMoves, settleDelivery } from "../chaos/delivery-scenario.ts"
import { createRandom } from "../chaos/seed.ts"
import { dieAtCommit } from "../chaos/die-at-commit.ts"

/** A program made to be killed while it tells what has ended. */
const { place, seed, life, atCommit } = JSON.parse(process.argv[2] ?? "") as DeliveryOrders
const plan = planDelivery(seed, createRandom(seed))
const problems: string[] = []
const open = await openRealDelivery(place, plan, problems, life === undefined)
if (atCommit) dieAtCommit(open.runtime, atCommit)
report({ ready: true })

try {
  const delivery = await openDelivery(open, plan, life ?? plan.lives.length)
  if (life === undefined) {
    // This program is told to settle only when the other one is dead, and the other one may wait for work held here.
    open.world.open()
    await settleWhenTold()
  } else await playMoves(delivery, plan.lives[life]?.moves ?? [])
  report({ settled: [...(await settleDelivery(delivery)), ...problems] })
} catch (error) {
  report({ failed: toErrorMessage(error) })
}

async function settleWhenTold(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) if (line === SETTLE) return
}

function report(what: DeliveryReport): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}
