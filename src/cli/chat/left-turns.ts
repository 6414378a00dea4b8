import { whenAborted } from "../../base/when-aborted.ts"
import type { Desk } from "../../desk/desk.ts"
import type { DeskTurn } from "../../desk/turns.ts"
import { shortId, toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"

export type LeftTurns = ReturnType<typeof createLeftTurns>

/** Turns that a crash or a shutdown cut off, and that go on here by themselves. */
export function createLeftTurns({ turns }: Pick<Desk, "turns">, screen: Screen) {
  const going = new Map<Promise<unknown>, DeskTurn["session"]>()
  const closing = new AbortController()
  return {
    /** Names the turns and, for turns of other sessions than `own`, the session. */
    async tell(own: DeskTurn["session"]): Promise<void> {
      for (const { id, title, session } of (await turns.list()).filter(({ where }) => where === "here")) {
        const ofSession = session === own ? "" : ` (session ${shortId(session)})`
        screen.print(`A turn from before goes on: ${toLine(title)}${ofSession}`)
        const following = turns
          .wait(id, { signal: closing.signal, onQuestion() {} })
          .catch(() => {})
          .finally(() => going.delete(following))
        going.set(following, session)
      }
    },
    /** The sessions of the turns that still go on. */
    sessions: (): ReadonlySet<DeskTurn["session"]> => new Set(going.values()),
    async allEnded(signal: AbortSignal): Promise<void> {
      await Promise.race([Promise.all(going.keys()), whenAborted(signal)])
    },
    /** Follows no turn any more. Call it before the runtime closes: waiting for turns then ends at once. */
    close: (): void => closing.abort(),
  }
}
