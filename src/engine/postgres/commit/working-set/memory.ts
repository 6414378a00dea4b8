import { Missing, type NumberKind } from "./wants.ts"

/** Takes back what was changed since a mark, the last change first. */
export interface UndoLog {
  note(takeBack: () => void): void
  mark(): number
  takeBackTo(mark: number): void
}

export function createUndoLog(): UndoLog {
  const log: (() => void)[] = []
  return {
    note: (takeBack) => void log.push(takeBack),
    mark: () => log.length,
    takeBackTo(mark) {
      while (log.length > mark) log.pop()?.()
    },
  }
}

/** A row before and after the transaction; undefined: there is none. */
export interface Changed<Value> {
  readonly before: Value | undefined
  readonly after: Value | undefined
}

/**
 * Rows by key: what was loaded, and over it what the rules have made of it. What is known to be absent is known, too.
 * Values are replaced, never changed.
 */
export interface Memory<Value> {
  isKnown(key: string): boolean
  /** Undefined when it is absent, or when nobody knows. */
  get(key: string): Value | undefined
  /** Everything that is known and there. */
  values(): readonly Value[]
  set(key: string, value: Value | undefined): void
  /** Records the stored value. */
  learn(key: string, value: Value | undefined): void
  /** The stored value, regardless of changes. */
  learned(key: string): Value | undefined
  changes(): readonly Changed<Value>[]
}

export function createMemory<Value>(undo: UndoLog): Memory<Value> {
  const loaded = new Map<string, Value | undefined>()
  const written = new Map<string, Value | undefined>()

  function values(): readonly Value[] {
    const found: Value[] = []
    for (const value of written.values()) if (value !== undefined) found.push(value)
    for (const [key, value] of loaded) if (value !== undefined && !written.has(key)) found.push(value)
    return found
  }

  return {
    isKnown: (key) => written.has(key) || loaded.has(key),
    get: (key) => (written.has(key) ? written.get(key) : loaded.get(key)),
    values,
    set(key, value) {
      const hadOne = written.has(key)
      const before = written.get(key)
      undo.note(() => {
        if (hadOne) written.set(key, before)
        else written.delete(key)
      })
      written.set(key, value)
    },
    learn: (key, value) => void loaded.set(key, value),
    learned: (key) => loaded.get(key),
    changes() {
      const changes: Changed<Value>[] = []
      written.forEach((after, key) => {
        const before = loaded.get(key)
        if (before !== after) changes.push({ before, after })
      })
      return changes
    },
  }
}

/** A list that only grows, until a writer's part of it is taken back. */
export interface Log<Entry> {
  add(entry: Entry): void
  entries(): readonly Entry[]
}

export function createLog<Entry>(undo: UndoLog): Log<Entry> {
  const entries: Entry[] = []
  return {
    add(entry) {
      entries.push(entry)
      undo.note(() => void entries.pop())
    },
    entries: () => entries,
  }
}

/** Fresh numbers of one sequence. Those that a refused writer took are given to the next. */
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
