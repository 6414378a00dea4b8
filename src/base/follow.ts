import { isMeanwhileError } from "./error.ts"

/**
 * Follows something until its reader leaves. `read` is given a signal that aborts when the reader's own signal does, when
 * the reader calls `return`, or when the runtime is closed. A plain generator would hold back `return` while a `next` is
 * pending. The iterator ends, and does not reject, when the runtime is closed.
 */
export function follow<Item>(
  signals: readonly AbortSignal[],
  read: (signal: AbortSignal) => AsyncGenerator<Item, void>,
): AsyncGenerator<Item, void> {
  const leaving = new AbortController()
  const items = read(AbortSignal.any([...signals, leaving.signal]))
  const endIfClosed = (error: unknown): IteratorReturnResult<void> => {
    if (isMeanwhileError(error, "closed")) return { done: true, value: undefined }
    throw error
  }
  const followed: AsyncGenerator<Item, void> = {
    next: () => items.next().catch(endIfClosed),
    return(value) {
      leaving.abort()
      return items.return(value).catch(endIfClosed)
    },
    throw(error) {
      leaving.abort()
      return items.throw(error)
    },
    [Symbol.asyncIterator]: () => followed,
    async [Symbol.asyncDispose]() {
      await followed.return()
    },
  }
  return followed
}
