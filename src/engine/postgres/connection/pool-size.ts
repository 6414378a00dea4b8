import { MeanwhileError } from "../../../base/error.ts"

/** Reads from a URL the most connections at once, beside the one that listens. */
export const POOL_SIZE_PARAMETER = "pool_size"

export const DEFAULT_POOL_SIZE = 10
/**
 * One for writers, one for those that are held up, one for a take, and one for everybody else: without it, reads and
 * new queues would wait, and a take with them, which looks at other rows while its transaction is open.
 */
export const SMALLEST_POOL_SIZE = 4
/** No process has so much to ask: a server would only be busier with connections. */
const LARGEST_POOL_SIZE = 100

/** Undefined: the URL says nothing of it. */
export function readPoolSize(url: string): number | undefined {
  const text = URL.parse(url)?.searchParams.get(POOL_SIZE_PARAMETER) ?? undefined
  if (text === undefined) return undefined
  const size = Number(text)
  if (/^\d+$/.test(text) && size >= SMALLEST_POOL_SIZE && size <= LARGEST_POOL_SIZE) return size
  const range = `${SMALLEST_POOL_SIZE} to ${LARGEST_POOL_SIZE}`
  const message = `The ${POOL_SIZE_PARAMETER} in the URL of the store must be a whole number from ${range}: how many connections each program may have at once, beside the one that listens.`
  throw new MeanwhileError("invalid_input", message)
}
