import type { Bus } from "./bus.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { Outputs } from "./outputs.ts"
import type { TaskStore } from "./store.ts"

/** Store, dispatcher and bus as one choice. Closing waits for what was committed before. */
export interface Engine extends AsyncDisposable {
  readonly name: string
  readonly store: TaskStore
  readonly dispatcher: Dispatcher
  readonly bus: Bus
  readonly outputs?: Outputs
  /**
   * The time that records carry, in whole milliseconds: the store's, as near as it is known without asking. Clocks of machines
   * differ, so whatever is kept, or compared with what is kept, goes by this one.
   */
  now(): number
  close(): Promise<void>
}
