import { createInterface, type Interface } from "node:readline"
import { countOf } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import { clearLine, createDraft } from "./draft.ts"
import type { TypedLines } from "../../program/typed-lines.ts"
import { createMessageLines } from "./message-lines.ts"
import { createRecalledLines } from "./recalled-lines.ts"
import { followSuspension, type RawInput } from "./suspension.ts"

const MOST_RECALLED = 1_000
const PROMPT = "> "
/** Shown while every approval is given (--yes). */
const YES_PROMPT = "!> "
const QUESTION_PROMPT = "? "
/** Shown while a message goes on over several lines. */
const MORE_PROMPT = "… "
const KEPT = "(what you were typing is kept: it comes back after the answer)"
const STALLED = "(the end of a paste is missing: press Enter, and then answer)"
/** Makes the terminal mark where a paste begins and ends. */
const PASTES_ON = "\u001b[?2004h"
const PASTES_OFF = "\u001b[?2004l"

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream & RawInput & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
  readonly screen: Screen
  /** Every approval is given without asking. */
  readonly isApproving: boolean
  /** What was typed in earlier chats, and where this one's lines are kept. */
  readonly typed: TypedLines
}

export interface ChatKeys {
  /** F2. */
  readonly next: () => void
  /** Ctrl+B on an empty line; elsewhere it moves the cursor. */
  readonly background: () => void
}

/** Where messages come from: a person at a terminal, or a pipe. */
export interface ChatPrompt {
  readonly isTerminal: boolean
  /** Calls back at each press of Ctrl+C that the terminal hands on as a key. */
  onInterrupt(press: () => void): void
  /** Calls back at Ctrl+D on an empty line, which then does not end the input. */
  onEnd(press: () => void): void
  /** Calls back at each press of a key, until taken back. Only a terminal has keys. */
  onKeys(keys: ChatKeys): () => void
  /**
   * Says that a question has appeared, or that none is open. Lines are answers once nobody has typed for a moment, and the
   * prompt shows it; what was being typed is kept until no question is open. A question that the person asked for takes
   * the next line.
   */
  expectAnswer(isAnswer: boolean, isAskedFor?: boolean): void
  /** Clears what was typed. False if nothing was typed. */
  takeBack(): boolean
  /**
   * Handles each message: at a terminal at once, whatever runs; from a pipe one after the other, as a script expects.
   * Resolves when no more message can come. Contract: call it before anything is awaited, or early lines are lost.
   */
  follow(handle: (message: string) => Promise<void>): Promise<void>
  close(): void
}

export function openPrompt(streams: PromptStreams): ChatPrompt {
  const { input, output, screen, isApproving } = streams
  if (!input.isTTY || !screen.isLive) return openPipe(createInterface({ input, terminal: false }))
  const { prompt, recalled } = openLine(streams)
  const message = createMessageLines()
  const answer = createMessageLines()
  const draft = createDraft({
    prompt,
    onOpen: showExpected,
    onStall: () => screen.print(screen.style.dim(STALLED)),
  })
  const lines = () => (draft.question === "open" ? answer : message)
  const ctrlD = interceptEnd(prompt, input)

  function showExpected(): void {
    const usual = isApproving ? YES_PROMPT : PROMPT
    prompt.setPrompt(lines().isBegun() ? MORE_PROMPT : draft.question === "open" ? QUESTION_PROMPT : usual)
    screen.refresh()
  }

  const followKeys = (_text: unknown, { name }: Key = {}): void => {
    if (name === "paste-start") draft.beginPaste()
    if (name === "paste-end") draft.endPaste()
    draft.key()
    if (name !== "paste-end") return
    const { length } = prompt.line
    const count = lines().count()
    if (count === 0) return
    const pasted = length > 0 ? count + 1 : count
    screen.print(screen.style.dim(`(pasted, ${countOf(pasted, "line")}: Enter sends it, Ctrl+C takes it back)`))
  }

  return {
    isTerminal: true,
    onInterrupt: (press) => void prompt.on("SIGINT", press),
    onEnd: ctrlD.listen,
    onKeys({ next, background }) {
      const listen = (_text: unknown, { name, ctrl = false }: Key = {}): void => {
        if (name === "f2") next()
        if (name === "b" && ctrl && prompt.line === "" && !lines().isBegun()) background()
      }
      input.on("keypress", listen)
      return () => void input.off("keypress", listen)
    },
    expectAnswer(isAnswer, isAskedFor = false) {
      answer.takeBack()
      if (!isAnswer) draft.giveBack(message.takeLast)
      else if (draft.begin(isAskedFor) || message.isBegun()) screen.print(screen.style.dim(KEPT))
      showExpected()
    },
    takeBack() {
      draft.endPaste()
      const hadLines = lines().takeBack()
      const hadText = prompt.line !== ""
      clearLine(prompt)
      if (hadLines) showExpected()
      return hadLines || hadText
    },
    follow(handle) {
      output.write(PASTES_ON)
      screen.attach(prompt)
      followSuspension({
        prompt,
        input,
        onLeave: () => output.write(PASTES_OFF),
        onReturn() {
          output.write(PASTES_ON)
          screen.drawAnew()
        },
      })
      input.on("keypress", followKeys)
      return new Promise((resolve, reject) => {
        prompt.on("line", (line) => {
          screen.enterLine(line)
          if (draft.question === "settling") {
            message.keep(draft.take(line))
            return screen.print(screen.style.dim(KEPT))
          }
          const isAnswer = draft.question === "open"
          const wasBegun = lines().isBegun()
          const whole = lines().add(line, draft.isPasting)
          if (wasBegun !== lines().isBegun()) showExpected()
          if (whole === undefined) return
          const said = isAnswer ? whole : recalled.toMessage(whole)
          if (!isAnswer) recalled.add(said)
          handle(said).catch(reject)
        })
        prompt.once("close", () => {
          // A closed prompt can no longer be drawn.
          screen.detach()
          input.off("keypress", followKeys)
          draft.close()
          output.write(PASTES_OFF)
          resolve()
        })
      })
    },
    close: ctrlD.close,
  }
}

/** The line at the prompt, with what the arrow keys bring back. */
function openLine({ input, output, isApproving, typed }: PromptStreams) {
  const recalled = createRecalledLines({ earlier: typed.earlier, most: MOST_RECALLED, onAdded: typed.keep })
  const prompt = createInterface({
    input,
    output,
    terminal: true,
    prompt: isApproving ? YES_PROMPT : PROMPT,
    history: recalled.list,
    historySize: MOST_RECALLED,
  })
  prompt.on("history", recalled.restore)
  // The owner of the input handles its errors.
  prompt.on("error", () => {})
  return { prompt, recalled }
}

/** Readline closes itself both at Ctrl+D and when the terminal is gone: only the key is handed on. */
function interceptEnd(prompt: Interface, input: NodeJS.EventEmitter) {
  const close = prompt.close.bind(prompt)
  let listener: (() => void) | undefined
  let isKey = false
  input.prependListener("keypress", (_text: unknown, { name, ctrl = false }: Key = {}) => {
    isKey = ctrl && name === "d"
    if (isKey) setImmediate(() => (isKey = false))
  })
  prompt.close = () => (isKey && listener ? listener() : close())
  return {
    close,
    listen(press: () => void): void {
      listener = press
    },
  }
}

interface Key {
  readonly name?: string
  readonly ctrl?: boolean
}

function openPipe(prompt: Interface): ChatPrompt {
  return {
    isTerminal: false,
    onInterrupt: (press) => void prompt.on("SIGINT", press),
    onEnd() {},
    onKeys: () => () => {},
    expectAnswer() {},
    takeBack: () => false,
    async follow(handle) {
      for await (const line of prompt) await handle(line)
    },
    close: () => prompt.close(),
  }
}
