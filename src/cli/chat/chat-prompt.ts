import { createInterface, type Interface } from "node:readline"
import type { Screen } from "../screen/screen.ts"

const PROMPT = "> "
const QUESTION_PROMPT = "? "

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
  readonly screen: Screen
}

/** Where lines come from: a person at a terminal, or a pipe. */
export function openPrompt({ input, output, screen }: PromptStreams): Interface {
  if (!input.isTTY || !screen.isLive) return createInterface({ input, terminal: false })
  return createInterface({ input, output, terminal: true, prompt: PROMPT })
}

/** Calls back at each press of F2, until taken back. Only a terminal has keys. */
export function followNextKey({ input }: PromptStreams, prompt: Interface, press: () => void): () => void {
  if (!prompt.terminal) return () => {}
  const listen = (_text: unknown, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "f2") press()
  }
  input.on("keypress", listen)
  return () => void input.off("keypress", listen)
}

/** Shows whether the next line is an answer. */
export function showExpected(prompt: Interface, screen: Screen, isAnswer: boolean): void {
  prompt.setPrompt(isAnswer ? QUESTION_PROMPT : PROMPT)
  screen.refresh()
}

/**
 * At a terminal every line is handled at once, whatever runs; from a pipe one after the other, as a script expects.
 * Resolves when no more can come. Contract: called before anything is awaited, for a line that nobody hears is lost.
 */
export function followLines(prompt: Interface, screen: Screen, handle: (line: string) => Promise<void>): Promise<void> {
  return prompt.terminal ? followTerminal(prompt, screen, handle) : followPipe(prompt, handle)
}

function followTerminal(prompt: Interface, screen: Screen, handle: (line: string) => Promise<void>): Promise<void> {
  screen.attach(prompt)
  return new Promise((resolve, reject) => {
    prompt.on("line", (line) => {
      screen.enterLine(line)
      handle(line).catch(reject)
    })
    prompt.once("close", () => {
      // A closed prompt cannot be drawn any more.
      screen.detach()
      resolve()
    })
  })
}

async function followPipe(prompt: Interface, handle: (line: string) => Promise<void>): Promise<void> {
  for await (const line of prompt) await handle(line)
}
