import type { Interface } from "node:readline"

/** Nobody answers a question so soon after it has appeared, or after a key that was meant for something else. */
const QUIET_MS = 500
/** The rest of a paste may be late: a slow line holds it up. Of one that has not ended by then, the end may never come. */
const PASTE_PATIENCE_MS = 10_000

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
  /** True from the beginning of a paste until its end: no question opens in between, for the rest of it would answer. */
  readonly isPasting: boolean
  beginPaste(): void
  endPaste(): void
  /** No question is open any more: what was being typed is on the line again. If that is nothing, `before` is. */
  giveBack(before: () => string): void
  /** The text that is kept, with this line behind it; afterwards nothing is kept. */
  take(line: string): string
  close(): void
}

export interface DraftParts {
  readonly prompt: Pick<Interface, "line" | "write">
  /** Called when the question can be answered. */
  readonly onOpen: () => void
  /** Called when a question waits behind a paste whose end is missing. The next key ends the paste, and belongs to it. */
  readonly onStall: () => void
}

export function createDraft({ prompt, onOpen, onStall }: DraftParts): Draft {
  let kept = ""
  let isPasting = false
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
    timer = isPasting ? setTimeout(stall, PASTE_PATIENCE_MS) : setTimeout(open, QUIET_MS)
  }

  function stall(): void {
    isPasting = false
    onStall()
  }

  return {
    get question() {
      return question
    },
    begin(isAskedFor) {
      clearTimeout(timer)
      keep()
      question = "settling"
      if (isAskedFor && !isPasting) open()
      else settle()
      return kept !== ""
    },
    key() {
      if (question === "settling") settle()
    },
    get isPasting() {
      return isPasting
    },
    beginPaste: () => void (isPasting = true),
    endPaste() {
      isPasting = false
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
