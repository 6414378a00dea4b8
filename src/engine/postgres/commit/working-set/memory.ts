import { Missing, type NumberKind } from "./wants.ts"

/** Undoes the changes since a mark, the last one first. */
export interface UndoLog {
  note(takeBack: () => void): void
  mark(): number
  undoTo(mark: number): void
}

export function createUndoLog(): UndoLog {
  const log: (() => void)[] = []
  return {
    note: (takeBack) => void log.push(takeBack),
    mark: () => log.length,
    undoTo(mark) {
      while (log.length > mark) log.pop()?.()
    },
  }
}

/** A row before and after the transaction; undefined: there is none. */
export interface Changed<Value> {
  readonly before: Value | undefined
  readonly after: Value | undefined
}

/** The rows that a transaction has removed, made and changed. */
export interface SortedChanges<Value> {
  readonly gone: readonly Value[]
  readonly made: readonly Value[]
  readonly changed: readonly { readonly before: Value; readonly after: Value }[]
}

/**
 * A row under the key of a removed row may be another row, as `isSame` tells: then the first is gone and the second is
 * made.
 */
export function sortChanges<Value>(
  changes: readonly Changed<Value>[],
  isSame: (before: Value, after: Value) => boolean = () => true,
): SortedChanges<Value> {
  const gone: Value[] = []
  const made: Value[] = []
  const changed: { readonly before: Value; readonly after: Value }[] = []
  for (const { before, after } of changes) {
    if (before !== undefined && after !== undefined && isSame(before, after)) changed.push({ before, after })
    else {
      if (before !== undefined) gone.push(before)
      if (after !== undefined) made.push(after)
    }
  }
  return { gone, made, changed }
}

/**
 * Rows by key: the loaded values, and over them what the rules have written. A row may also be known to be absent.
 * Values are replaced, never changed.
 */
export function createMemory<Value>(undo: UndoLog) {
  const loaded = new Map<string, Value | undefined>()
  const written = new Map<string, Value | undefined>()

  return {
    isKnown: (key: string): boolean => written.has(key) || loaded.has(key),
    /** Undefined if the row is absent, or not known. */
    get: (key: string): Value | undefined => (written.has(key) ? written.get(key) : loaded.get(key)),
    /** All known rows that exist. */
    values(): readonly Value[] {
      const found: Value[] = []
      for (const value of written.values()) if (value !== undefined) found.push(value)
      for (const [key, value] of loaded) if (value !== undefined && !written.has(key)) found.push(value)
      return found
    },
    set(key: string, value: Value | undefined): void {
      const hadOne = written.has(key)
      const before = written.get(key)
      undo.note(() => {
        if (hadOne) written.set(key, before)
        else written.delete(key)
      })
      written.set(key, value)
    },
    /** Records the stored value. */
    learn: (key: string, value: Value | undefined) => void loaded.set(key, value),
    /** The stored value, regardless of changes. */
    learned: (key: string): Value | undefined => loaded.get(key),
    changes(): readonly Changed<Value>[] {
      const changes: Changed<Value>[] = []
      written.forEach((after, key) => {
        const before = loaded.get(key)
        if (before !== after) changes.push({ before, after })
      })
      return changes
    },
  }
}

/** A list that only grows, unless the entries of a refused writer are undone. */
export function createLog<Entry>(undo: UndoLog) {
  const entries: Entry[] = []
  return {
    add(entry: Entry): void {
      entries.push(entry)
      undo.note(() => void entries.pop())
    },
    entries: (): readonly Entry[] => entries,
  }
}

/** Fresh numbers of one sequence. Numbers that a refused writer took are given to the next one. */
export interface Numbers {
  take(): number
  learn(numbers: readonly number[]): void
}

export function createNumbers(kind: NumberKind, undo: UndoLog): Numbers {
  const known: number[] = []
  let taken = 0
  return {
    take() {
      const number = known[taken]
      if (number === undefined) throw new Missing((wants) => void (wants.numbers[kind] = 1))
      taken += 1
      undo.note(() => void (taken -= 1))
      return number
    },
    learn: (numbers) => void known.push(...numbers),
  }
}
