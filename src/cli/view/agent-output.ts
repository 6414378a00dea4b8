import type { Screen } from "../screen/screen.ts"
import type { Style } from "../screen/style.ts"
import type { Transcript } from "./transcript.ts"

/** Where one agent's lines go: always into its transcript, and on the screen while it is shown there. */
export interface AgentOutput {
  readonly style: Style
  /** Whole lines beside an answer. */
  print(text: string): void
  /** A piece of an answer. */
  write(text: string): void
  endLine(): void
}

export interface AgentOutputOptions {
  /** Where answers go, and where everything else does. */
  readonly answers: Screen
  readonly notes: Screen
  readonly transcript: Transcript
  readonly isShown: () => boolean
}

export function createAgentOutput({ answers, notes, transcript, isShown }: AgentOutputOptions): AgentOutput {
  return {
    style: notes.style,
    print(text) {
      transcript.print(text)
      if (isShown()) notes.print(text)
    },
    write(text) {
      transcript.write(text)
      if (isShown()) answers.write(text)
    },
    endLine() {
      transcript.endLine()
      if (isShown()) answers.endLine()
    },
  }
}
