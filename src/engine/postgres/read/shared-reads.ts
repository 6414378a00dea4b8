interface Reader<Id, Found> {
  readonly id: Id
  readonly resolve: (found: Found | undefined) => void
  readonly reject: (error: unknown) => void
}

/** A larger statement would keep all of its readers waiting for the last row. */
const LARGEST_GROUP = 500

/**
 * Readers of one moment share one statement; readers that come meanwhile share the next. So everybody is shown what was
 * committed before they asked, and a hundred readers who wait for their tasks cost the server a few statements.
 */
export function createSharedReads<Id, Found>(
  readAll: (ids: readonly Id[]) => Promise<ReadonlyMap<Id, Found>>,
): (id: Id) => Promise<Found | undefined> {
  let waiting: Reader<Id, Found>[] = []
  let isRunning = false

  async function run(): Promise<void> {
    // Waits for all readers of the same tick.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = waiting.slice(0, LARGEST_GROUP)
      waiting = waiting.slice(group.length)
      await readGroup(group)
    }
    isRunning = false
  }

  async function readGroup(group: readonly Reader<Id, Found>[]): Promise<void> {
    try {
      const found = await readAll([...new Set(group.map(({ id }) => id))])
      for (const { id, resolve } of group) resolve(found.get(id))
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, resolve, reject })
      if (isRunning) return
      isRunning = true
      void run()
    })
}
