import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime } from "../../../src/app.ts"
import { type Child, startChild } from "./child.ts"
import { createTeller, type OpenDelivery, toRuntimeOptions } from "./delivery-house.ts"
import type { DeliveryPlan } from "./delivery-plan.ts"
import type { DeliveryOrders, DeliveryPlace, DeliveryReport } from "./delivery-protocol.ts"
import { createWorld } from "./delivery-tools.ts"
import { builtProgram } from "../built-program.ts"

/** The lease of a program beside another one, which looks for dead workers three times in it. */
const LEASE_SECONDS = 3

/** A folder and a real store, where programs tell what has ended and are killed. */
export interface DeliverySite {
  readonly place: DeliveryPlace
  start(orders: Omit<DeliveryOrders, "place">): Child
  remove(): void
}

export function createDeliverySite(engine?: string): DeliverySite {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-delivery-"))
  const place = { directory, ...(engine !== undefined && { engine }) }
  const children = new Set<Child>()
  return {
    place,
    start(orders) {
      const child = startChild({
        program: builtProgram("delivery-program"),
        parameters: [JSON.stringify({ place, ...orders })],
        directory,
      })
      children.add(child)
      return child
    },
    remove() {
      for (const child of children) child.process.kill("SIGKILL")
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Opens a real store, by real time. `isBeside`: another process has the same conversations open. */
export async function openRealDelivery(
  { directory, engine }: DeliveryPlace,
  plan: DeliveryPlan,
  problems: string[],
  isBeside = false,
): Promise<OpenDelivery> {
  const world = createWorld((turns) => sleep(turns))
  const options = toRuntimeOptions(plan, world, createTeller(problems))
  const background = { ...options.background, ...(isBeside && { leaseSeconds: LEASE_SECONDS }) }
  const runtime = await createRuntime({
    ...options,
    background,
    dataDirectory: join(directory, "data"),
    ...(engine !== undefined && { engine }),
  })
  return { runtime, world, store: runtime.engine.store }
}

/** The problems that the program reported; undefined if it died before it could. */
export function settledBy({ lines }: Child): readonly string[] | undefined {
  for (const line of lines) {
    const report = JSON.parse(line) as DeliveryReport
    if ("failed" in report) return [report.failed]
    if ("settled" in report) return report.settled
  }
  return undefined
}
