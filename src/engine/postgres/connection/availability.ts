import { MeanwhileError, toErrorMessage } from "../../../base/error.ts"
import { createOutage, type OutageWrite, toReturn, WAITING } from "../../rules/outage.ts"
import type { ClientSettings } from "./client-settings.ts"
import { probeServer } from "./probe-server.ts"
import { createReachability } from "./reachability.ts"
import { type StoreName, toStoreError } from "./store-error.ts"

interface AvailabilityParts {
  readonly settings: ClientSettings
  readonly name: StoreName
  /** Lines for a person. */
  readonly tell: (line: string) => void
  /** True while a person wants to hear that the server is away. */
  readonly isAwaited: () => boolean
  /** Called when the server is found to be away, and when it is back. */
  readonly onAway: (isAway: boolean) => void
  /** Called when a server that could not be reached can be reached again. */
  readonly onReached: () => void
}

/** A transaction that may write. */
export interface ServerWrite extends Omit<OutageWrite, "refused"> {
  /** Called at each try that is refused because the server takes no writes for now. */
  refused(cause: unknown): void
}

/** Knows whether the server is away: out of reach, or within reach and taking no writes, as with a full disk. */
export function createAvailability({ settings, name, tell, isAwaited, onAway, onReached }: AvailabilityParts) {
  const { server } = name
  const store = `The store at ${server}`
  let text = ""
  const describe = (): string => text
  const note = (cause: unknown): void => void (text = toErrorMessage(toStoreError(cause, name)))
  const toRefusal = (): MeanwhileError => new MeanwhileError("store_unavailable", text, { server })

  const reachability = createReachability({
    probe: () => probeServer(settings),
    onAway(cause) {
      note(cause)
      if (isAwaited() && !outage.isTold) tell(`${text} ${WAITING}`)
      onAway(true)
    },
    onBack(awayMs) {
      onAway(outage.isAway)
      // A server that can be reached again may still take no writes.
      if (!outage.isTold) tell(toReturn(store, awayMs))
      onReached()
    },
  })
  const outage = createOutage({ store, tell: (line) => void (isAwaited() && tell(line)), onAway })
  const isAway = (): boolean => reachability.isAway || outage.isAway
  return {
    isAway,
    /** Called when a connection was lost, or the server has not answered for long. */
    doubt: reachability.doubt,
    /** Called when a new connection was made and takes writes. */
    confirm: reachability.confirm,
    beginWrite(): ServerWrite {
      const write = outage.beginWrite()
      return {
        ...write,
        refused(cause) {
          note(cause)
          write.refused(describe)
        },
      }
    },
    /** The refusal for those who do not wait; undefined unless the server is known to be away. */
    away: (): MeanwhileError | undefined => (isAway() ? toRefusal() : undefined),
    /** The same for a server that cannot be read either. */
    unreachable: (): MeanwhileError | undefined => (reachability.isAway ? toRefusal() : undefined),
    async close(): Promise<void> {
      outage.close()
      await reachability.close()
    },
  }
}
