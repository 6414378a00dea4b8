import { type ErrorCode, isMeanwhileError } from "../base/error.ts"

/** Details of an error of a commit that may have been performed all the same. Any other error says that it was not. */
export const IN_DOUBT = { mayBeStored: true } as const

const REFUSED_FOR_NOW: readonly ErrorCode[] = ["store_unavailable", "store_read_only", "disk_full"]

/** True if the store takes no writes for now: the same commit may be taken later. */
export function isRefusedForNow(error: unknown): boolean {
  return isMeanwhileError(error) && REFUSED_FOR_NOW.includes(error.code)
}

/** True if the commit that failed may have been performed. */
export function isInDoubt(error: unknown): boolean {
  return isMeanwhileError(error) && error.details["mayBeStored"] === true
}
