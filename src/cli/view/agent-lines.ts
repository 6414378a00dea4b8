import { plain, plainLines } from "../format/format.ts"
import { createLineBuffer } from "../screen/line-buffer.ts"
import type { Screen } from "../screen/screen.ts"
import { widthOf } from "../screen/text-width.ts"
import { wrapWords } from "../screen/wrap-words.ts"
import type { Transcript } from "./transcript.ts"

/** For the text behind the name of an agent. */
const FEWEST_COLUMNS = 20
const OUTPUT_LINES = 12
const OUTPUT_CHARACTERS = 400

/** The lines of one agent: its words, and the output of its calls. Only the main agent writes word by word. */
export interface AgentLines {
  writeAnswer(text: string): void
  writeReasoning(text: string): void
  /** Ends an answer: shows the whole of it unless its pieces were shown. */
  endAnswer(whole: string): void
  /** Ends an answer that does not count: another one follows, or none. */
  dropAnswer(): void
  /** Shows a bounded part of the output: all of it can be read afterwards. */
  writeOutput(text: string): void
  /** Called when a call begins or ends: the bound counts anew for the next output. */
  endOutput(): void
  /** Prints whole lines, with the agent's label. */
  note(text: string): void
  /** Ends the lines that were begun. */
  flush(): void
  /** Keeps whole lines back until `release`, which shows them together. */
  hold(): void
  release(): void
}

export interface AgentLinesOptions {
  /** `answers` gets the answers, `notes` everything else. */
  readonly answers: Screen
  readonly notes: Screen
  readonly transcript: Transcript
  readonly isShown: () => boolean
  /** Put before every line; empty for the agent a person talks with. */
  readonly label: () => string
}

export function createAgentLines(options: AgentLinesOptions): AgentLines {
  const { label, notes } = options
  const { style } = notes
  const target = createAgentOutput(options)
  let hasWritten = false
  let outputLines = 0

  const note = (text: string): void => {
    const name = label()
    if (name === "") return target.print(text)
    const prefix = `${name} │ `
    // The line is broken here: its rest would have no name if the terminal broke it.
    const rows = wrapWords(text, Math.max(FEWEST_COLUMNS, notes.columns - widthOf(prefix)))
    target.print(rows.replaceAll(/^/gm, style.cyan(prefix)))
  }
  const answer = createLineBuffer((lines) => note(lines.join("\n")))
  const reasoning = createLineBuffer((lines) => note(lines.map((line) => style.dim(line)).join("\n")))
  const output = createLineBuffer((lines) => {
    const room = Math.max(0, OUTPUT_LINES - outputLines)
    const isFirstLeftOut = outputLines <= OUTPUT_LINES && outputLines + lines.length > OUTPUT_LINES
    const shown = lines.slice(0, room).map((line) => line.slice(0, OUTPUT_CHARACTERS))
    if (isFirstLeftOut) shown.push("…")
    outputLines += lines.length
    if (shown.length > 0) note(shown.map((line) => style.dim(`  │ ${line}`)).join("\n"))
  })

  function flush(): void {
    reasoning.flush()
    output.flush()
    answer.flush()
    if (label() === "") target.endLine()
  }

  function writeAnswer(text: string): void {
    const clean = plain(text)
    reasoning.flush()
    hasWritten = true
    if (label() === "") target.write(clean)
    else answer.push(clean)
  }

  function dropAnswer(): void {
    hasWritten = false
    flush()
  }

  return {
    note,
    flush,
    hold: target.hold,
    release: target.release,
    writeAnswer,
    writeReasoning: (text) => reasoning.push(plain(text)),
    endAnswer(whole) {
      if (!hasWritten && whole !== "") writeAnswer(whole)
      dropAnswer()
    },
    dropAnswer,
    writeOutput: (text) => output.push(plainLines(text)),
    endOutput() {
      output.flush()
      outputLines = 0
    },
  }
}

/** Where one agent's lines go: always into its transcript, and on the screen while it is shown there. */
function createAgentOutput({ answers, notes, transcript, isShown }: AgentLinesOptions) {
  let held: string[] | null = null

  /** Prints whole lines beside an answer. */
  function print(text: string): void {
    if (held) return void held.push(text)
    transcript.print(text)
    if (isShown()) notes.print(text)
  }

  function release(): void {
    const lines = held ?? []
    held = null
    if (lines.length > 0) print(lines.join("\n"))
  }

  return {
    print,
    hold(): void {
      held ??= []
    },
    release,
    /** Writes a piece of an answer. */
    write(text: string): void {
      // A person has come into this conversation meanwhile.
      release()
      transcript.write(text)
      if (isShown()) answers.write(text)
    },
    endLine(): void {
      transcript.endLine()
      if (isShown()) answers.endLine()
    },
  }
}
