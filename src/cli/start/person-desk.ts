import type { ScreenRuntime } from "../../program/open-program.ts"
import type { Desk } from "../../desk/desk.ts"
import { LOCAL_PERSON } from "../../desk/desk-options.ts"

/** The desk of the person who uses this program. */
export function openDesk({ desk }: Pick<ScreenRuntime, "desk">): Desk {
  return desk(LOCAL_PERSON)
}
