interface HeldWritersParts<Writer> {
  /** Answers all writers and returns undefined, or returns the error that tells what one of them is held up by. */
  attempt(group: readonly Writer[], lockTimeoutMs: number): Promise<unknown>
  refuse(writer: Writer, heldUpBy: unknown): void
}

interface Waiting<Writer> {
  readonly writer: Writer
  readonly sinceMs: number
}

/** As long as any statement may take. A process that was stopped in the middle loses its locks long before that. */
const GIVE_UP_AFTER_MS = 30_000
/** However many writers wait, each has its turn about this often. */
const ROUND_MS = 1_000
const SHORTEST_ATTEMPT_MS = 20
const LONGEST_ATTEMPT_MS = 250

/**
 * Writers whose rows another process holds and does not release. They are set aside: all writers of a moment share one
 * transaction, so one process that is stopped in the middle of a transaction would otherwise stop the commits of every
 * process that wants one of its rows.
 *
 * They take turns in short attempts on one connection. A writer that waits inside the server would keep a connection
 * for that time, and a few dozen of them would leave none for others. New writers come before those that have waited.
 * Once all have had their turn they are tried together, because one holder may have held up all of them.
 */
export function createHeldWriters<Writer>({ attempt, refuse }: HeldWritersParts<Writer>) {
  const groups: (readonly Waiting<Writer>[])[] = []
  /** Writers that were held up even by themselves, and wait for the next round. */
  const alone: Waiting<Writer>[] = []
  let running: Promise<void> | undefined

  const count = (): number => groups.reduce((sum, group) => sum + group.length, alone.length)

  async function run(): Promise<void> {
    while (groups.length + alone.length > 0) {
      const group = groups.shift() ?? alone.splice(0)
      await tryGroup(group)
    }
    running = undefined
  }

  async function tryGroup(group: readonly Waiting<Writer>[]): Promise<void> {
    const lockTimeoutMs = ROUND_MS / (2 * (count() + group.length))
    const heldUpBy = await attempt(
      group.map(({ writer }) => writer),
      Math.round(Math.min(Math.max(lockTimeoutMs, SHORTEST_ATTEMPT_MS), LONGEST_ATTEMPT_MS)),
    )
    if (heldUpBy === undefined) return
    const [first, ...others] = group
    if (!first) return
    if (others.length > 0) groups.unshift(...halve(group))
    else if (performance.now() - first.sinceMs < GIVE_UP_AFTER_MS) alone.push(first)
    else refuse(first.writer, heldUpBy)
  }

  return {
    /** Adds a group of which at least one writer is held up. Halving the group finds which. */
    add(group: readonly Writer[]): void {
      const sinceMs = performance.now()
      groups.unshift(...halve(group.map((writer) => ({ writer, sinceMs }))))
      running ??= run()
    },
    hasAny: () => running !== undefined,
    allAnswered: async () => running,
  }
}

function halve<Item>(group: readonly Item[]): (readonly Item[])[] {
  if (group.length < 2) return [group]
  const middle = Math.ceil(group.length / 2)
  return [group.slice(0, middle), group.slice(middle)]
}
