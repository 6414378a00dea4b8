import { toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { PersonChannel } from "./read-answer.ts"

/** Says yes to every approval, without a person. Questions of other kinds stay unanswered. */
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
