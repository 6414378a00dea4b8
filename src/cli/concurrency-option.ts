import type { Command } from "commander"
import { MOST_TASKS_AT_ONCE } from "../base/concurrency-limit.ts"

/** NaN: it is none. Which ones there are depends on the command, which refuses it. */
export function toConcurrency(text: string): number {
  const count = Number(text)
  return text.trim() !== "" && Number.isInteger(count) && count >= 0 && count <= MOST_TASKS_AT_ONCE ? count : Number.NaN
}

/** A worker that takes nothing is none. */
export function refuseConcurrency(command: Command): void {
  const { concurrency } = command.optsWithGlobals<{ concurrency?: number }>()
  if (concurrency === undefined) return
  const isWorker = command.name() === "worker"
  const fewest = isWorker ? 1 : 0
  if (concurrency >= fewest) return
  const why = concurrency === 0 ? ": it would take nothing" : ""
  command.error(
    `error: --concurrency${isWorker ? " of a worker" : ""} must be a whole number from ${fewest} to ${MOST_TASKS_AT_ONCE}${why}`,
  )
}
