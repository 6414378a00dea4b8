import type { Bus } from "./bus.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { Outputs } from "./outputs.ts"
import type { TaskStore } from "./store.ts"

/** Store, dispatcher and bus as one choice. Closing waits for earlier commits. */
export interface Engine extends AsyncDisposable {
  readonly name: string
  readonly store: TaskStore
  readonly dispatcher: Dispatcher
  readonly bus: Bus
  readonly outputs?: Outputs
  /**
   * The time that records carry, in whole milliseconds: the store's time, as near as it is known without asking. Clocks
   * of machines differ, so every time that is stored, or compared with a stored time, comes from here.
   */
  now(): number
  close(): Promise<void>
}
