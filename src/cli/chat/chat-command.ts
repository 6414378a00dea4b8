import { createInterface } from "node:readline"
import { systemClock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { endWithTerminal } from "../start/closed-output.ts"
import { plain } from "../format/format.ts"
import { type GlobalOptions, openRuntime } from "../start/open-runtime.ts"
import { openDesk } from "../start/person-desk.ts"
import { toProgramWords } from "../start/program-words.ts"
import { createScreen } from "../screen/create-screen.ts"
import { runChat } from "./chat.ts"
import { followSignals } from "../start/interrupts.ts"
import { createLatePerson } from "./late-person.ts"
import { followSuspension } from "./suspension.ts"

export interface ChatCommandOptions extends GlobalOptions {
  readonly resume?: string | true
  readonly yes?: true
  readonly onExit?: "ask" | "keep" | "stop"
}

/** `meanwhile` without anything after it. */
export async function chat(options: ChatCommandOptions): Promise<void> {
  const startedMs = performance.now()
  const { stdin: input, stdout: output } = process
  const screen = createScreen(output, process.env)
  const isInteractive = input.isTTY && screen.isLive
  const { resume, model, yes = false } = options
  // Without a person at the terminal, approvals wait in the inbox.
  const person = isInteractive || yes ? createLatePerson() : null
  if (input.isTTY) endWithTerminal(input)
  const { begun, ...opened } = await openRuntime({
    ...options,
    keepsEarlyEvents: true,
    endsAtSignal: true,
    notify: (text) => screen.print(text),
    ...(isInteractive && { confirmTrust }),
    ...(person && { person }),
  })
  const { openTypedLines } = await import("../../program/typed-lines.ts")
  const interrupts = followSignals()
  const desk = openDesk(opened.meanwhile)
  await runChat({
    ...opened,
    desk,
    person,
    startedAt: Math.floor(desk.now() - (performance.now() - startedMs)),
    input,
    output,
    screen,
    interrupts,
    isApproving: yes,
    typed: openTypedLines(opened.dataDirectory, process.env),
    words: toProgramWords(options),
    options,
    onExit: options.onExit ?? opened.meanwhile.onExit,
    wish: { begun, ...(resume !== undefined && { resume }), ...(model !== undefined && { model }) },
  })
}

/** Asks at the terminal before the chat is there. Enter alone, Ctrl+C and the end of input are a no. */
async function confirmTrust(question: string): Promise<boolean> {
  await dropTyped(process.stdin)
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  followSuspension({ prompt, input: process.stdin, onReturn: () => prompt.prompt(true) })
  return new Promise((resolve) => {
    prompt.once("close", () => resolve(false))
    prompt.on("error", () => resolve(false))
    prompt.question(`${plain(question)} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      prompt.close()
    })
  })
}

const TYPED_BEFORE_MS = 250

/** Throws away lines that were typed before the question appeared: they answer something else. */
async function dropTyped(input: NodeJS.ReadStream): Promise<void> {
  const ignore = (): void => undefined
  input.on("data", ignore)
  await sleep(systemClock, TYPED_BEFORE_MS)
  input.off("data", ignore)
  input.pause()
}
