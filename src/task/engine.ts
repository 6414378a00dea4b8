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
  close(): Promise<void>
}
