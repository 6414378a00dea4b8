import type { Desk } from "../../desk/desk.ts"
import { formatPlace } from "./format-worker.ts"

/** Said where the store cannot be asked either. */
export const AT_NEXT_START = "at the next start of a chat or a worker"

/** Says how work goes on that this program leaves: with which worker, or once there is one. */
export async function describeHandoff(
  { workers }: Pick<Desk, "workers">,
  needs: Parameters<Desk["workers"]["successors"]>[0],
): Promise<string> {
  const [one, ...others] = await workers.successors(needs)
  if (!one) return AT_NEXT_START
  return others.length > 0
    ? `with one of ${others.length + 1} other workers`
    : `with another worker (${formatPlace(one)})`
}

/** Says how work goes on that another program runs. */
export function describeRunner(worker: Parameters<typeof formatPlace>[0]): string {
  return `with the worker that runs it (${formatPlace(worker)})`
}
