import type { Screen } from "../screen/screen.ts"
import type { ChatPrompt } from "./chat-prompt.ts"
import type { Conversation } from "./conversation.ts"
import type { Foreground } from "../command/foreground.ts"
import type { Fate } from "./ending.ts"
import type { QuestionPrompt } from "./question-prompt.ts"

const TWICE_WITHIN_MS = 2_000

export interface ControlCParts {
  readonly prompt: Pick<ChatPrompt, "isTerminal" | "takeBack">
  readonly screen: Pick<Screen, "print">
  readonly questions: Pick<QuestionPrompt, "decline">
  readonly foreground: Pick<Foreground, "abort">
  readonly conversation: () => Pick<Conversation, "stop"> | undefined
  /** True while the person is asked what leaving does to work that is under way. */
  readonly isLeaving: () => boolean
  /** The person wants to leave. */
  readonly leave: () => void
  readonly onExit: "ask" | Fate
}

const SECOND_PRESS = {
  ask: "Ctrl+C again leaves, and asks first what becomes of work in the background.",
  keep: "Ctrl+C again leaves; work in the background goes on.",
  stop: "Ctrl+C again leaves, and stops this chat's work in the background.",
} as const

/** The meaning of Ctrl+C, which depends on what runs and what was pressed before. */
export interface ControlC {
  press(): void
  /** A line was entered: the next press counts as the first. */
  forget(): void
}

/**
 * Declines an open question, else stops what runs, else clears the line. Pressed again within two seconds after a stop
 * with nothing typed since, or twice on an empty line, leaves the chat. Each first press says what the second one does.
 */
export function createControlC(parts: ControlCParts): ControlC {
  const { prompt, screen, questions, foreground, conversation, isLeaving, leave } = parts
  let isWarned = false
  let stoppedAt = Number.NEGATIVE_INFINITY

  function stopWhatRuns(): boolean {
    const hasCommands = foreground.abort()
    const hasTurn = conversation()?.stop() ?? false
    return hasCommands || hasTurn
  }

  /** Clears the line, or warns, then leaves. Without a terminal nobody can press again, so it leaves at once. */
  function takeBack(): void {
    const hadText = prompt.takeBack()
    if (!prompt.isTerminal || (isWarned && !hadText)) return leave()
    isWarned = !hadText
    if (isWarned) screen.print(`${SECOND_PRESS[parts.onExit]} So does /quit.`)
  }

  return {
    press() {
      if (isLeaving()) return leave()
      if (questions.decline()) return
      const now = performance.now()
      // A person who typed something since the stop wants to clear the line, and not to leave.
      if (now - stoppedAt < TWICE_WITHIN_MS) return prompt.takeBack() ? undefined : leave()
      if (!stopWhatRuns()) return takeBack()
      stoppedAt = now
      isWarned = false
      if (prompt.isTerminal) screen.print(`(stopped) ${SECOND_PRESS[parts.onExit]}`)
    },
    forget() {
      isWarned = false
      stoppedAt = Number.NEGATIVE_INFINITY
    },
  }
}
