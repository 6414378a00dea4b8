import { toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { PersonChannel } from "./read-answer.ts"

/** Says yes to whatever is asked for, without anybody looking. What is no matter of yes or no stays unanswered. */
export function createApproveAll(screen: Screen): PersonChannel {
  return {
    name: "--yes",
    async ask({ kind, text, isPermission = false }) {
      const isApproval = kind === "approval" || isPermission
      screen.print(`${toLine(text)} ${isApproval ? "yes (--yes)" : "(nobody is there to answer)"}`)
      return isApproval
        ? { isAnswered: true, value: "yes", by: "--yes" }
        : { isAnswered: false, reason: "nobody is there to answer" }
    },
  }
}
