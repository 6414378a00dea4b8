import type { Interface } from "node:readline"

/** Nobody answers a question so soon after it has appeared, or after a key that was meant for something else. */
const QUIET_MS = 500

/** Text that a person was typing when a question appeared. It answers nothing, and comes back when no question is open. */
export interface Draft {
  /** `none`: no question is open. `settling`: one has just appeared, and keys still belong to the draft. */
  readonly question: "none" | "settling" | "open"
  /**
   * A question has appeared, perhaps in the place of another. Returns true if something was being typed. A question that
   * the person asked for can be answered at once.
   */
  begin(isAskedFor: boolean): boolean
  /** A key was pressed: while the question settles, the wait for a pause begins again. */
  key(): void
  /** No question is open any more: what was being typed is on the line again. If that is nothing, `before` is. */
  giveBack(before: () => string): void
  /** The text that is kept, with this line behind it; afterwards nothing is kept. */
  take(line: string): string
  close(): void
}

/** `onOpen` is called when the question can be answered. */
export function createDraft(prompt: Pick<Interface, "line" | "write">, onOpen: () => void): Draft {
  let kept = ""
  let question: Draft["question"] = "none"
  let timer: NodeJS.Timeout | undefined

  function keep(): void {
    kept += prompt.line
    clearLine(prompt)
  }

  function open(): void {
    keep()
    question = "open"
    onOpen()
  }

  function settle(): void {
    clearTimeout(timer)
    timer = setTimeout(open, QUIET_MS)
  }

  return {
    get question() {
      return question
    },
    begin(isAskedFor) {
      clearTimeout(timer)
      keep()
      question = "settling"
      if (isAskedFor) open()
      else settle()
      return kept !== ""
    },
    key() {
      if (question === "settling") settle()
    },
    giveBack(before) {
      clearTimeout(timer)
      question = "none"
      keep()
      prompt.write(kept === "" ? before() : kept)
      kept = ""
    },
    take(line) {
      const text = `${kept}${line}`
      kept = ""
      return text
    },
    close: () => clearTimeout(timer),
  }
}

export function clearLine(prompt: Pick<Interface, "write">): void {
  prompt.write(null, { ctrl: true, name: "e" })
  prompt.write(null, { ctrl: true, name: "u" })
}
