import type { Interface } from "node:readline"
import type { Screen, ScreenOutput } from "./screen.ts"
import type { Style } from "./style.ts"
import { breakAt, widthOf } from "./text-width.ts"
import { wrapWords } from "./wrap-words.ts"

const USUAL_COLUMNS = 80
const FEWEST_COLUMNS = 20
const USUAL_ROWS = 24

/**
 * Finished lines scroll up and are never touched again. Below them, drawn anew whenever something changes: the line that
 * is being written, what is going on, and the prompt with what was typed.
 */
export function createTerminalScreen(output: ScreenOutput, style: Style): Screen {
  let prompt: Interface | undefined
  let partial = ""
  let activity: readonly string[] = []
  let linesAbovePrompt: readonly string[] = []

  const columns = (): number => Math.max(FEWEST_COLUMNS, output.columns ?? USUAL_COLUMNS)

  function draw(finished: string, typedRows = prompt?.getCursorPos().rows ?? 0): void {
    const up = rowsOf(linesAbovePrompt, columns()) + typedRows
    const lines = [...(partial === "" ? [] : [partial]), ...activity]
    const below = lines.map((line) => `${line}\n`).join("")
    const room = "\n".repeat(prompt ? rowsItMovesUp(prompt) : 0)
    output.write(`\r${up > 0 ? `\u001b[${up}A` : ""}\u001b[J${finished}${below}${room}`)
    linesAbovePrompt = lines
    prompt?.prompt(true)
  }

  /** Takes the finished lines off the text being written; a line wider than the screen is finished in part. */
  function takeFinished(): string {
    const end = partial.lastIndexOf("\n") + 1
    let finished = wrapWords(partial.slice(0, end), columns())
    partial = partial.slice(end)
    while (widthOf(partial) >= columns()) {
      const at = breakAt(partial, columns() - 1)
      finished += `${partial.slice(0, at).trimEnd()}\n`
      partial = partial.slice(at)
    }
    return finished
  }

  return {
    isLive: true,
    style,
    get columns() {
      return columns()
    },
    get rows() {
      return output.rows ?? USUAL_ROWS
    },
    print: (text) => draw(`${wrapWords(text, columns())}\n`),
    write(text) {
      if (text === "") return
      partial += text.replaceAll("\t", "    ")
      draw(takeFinished())
    },
    endLine() {
      if (partial === "") return
      const finished = `${partial}\n`
      partial = ""
      draw(finished)
    },
    showActivity(lines) {
      if (lines.length === 0 && activity.length === 0) return
      activity = lines
      draw("")
    },
    attach(next) {
      prompt = next
      draw("", 0)
    },
    enterLine(line) {
      const text = `${prompt?.getPrompt() ?? ""}${line}`
      // The cursor is in the row below what was typed.
      draw(`${text}\n`, 1 + Math.floor(widthOf(text) / columns()))
    },
    refresh: () => draw(""),
    drawAnew() {
      linesAbovePrompt = []
      draw("", 0)
    },
    detach() {
      const typedRows = prompt?.getCursorPos().rows ?? 0
      prompt = undefined
      activity = []
      draw("", typedRows)
    },
  }
}

/** The rows that lines take now: a window that has become narrower has broken lines that fitted before. */
function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
}

/**
 * Before readline draws its prompt, it moves up by the rows that it believes to have drawn below the first. After a
 * paste that differs from the rows of the cursor, and only this undocumented property tells the number.
 */
function rowsItMovesUp(prompt: Interface): number {
  const rows: unknown = Reflect.get(prompt, "prevRows")
  return typeof rows === "number" ? rows : 0
}
