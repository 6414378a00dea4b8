import { createInterface, type Interface } from "node:readline"
import type { Runtime } from "../app.ts"
import { type Announcer, createAnnouncer } from "./announcer.ts"
import { splitLine } from "./command.ts"
import { COMMANDS, findCommand } from "./commands.ts"
import { plain } from "./format.ts"
import type { Interrupts } from "./interrupts.ts"
import type { LastAnnouncement } from "./last-announcement.ts"
import type { Screen } from "./screen.ts"

export interface ProgramOptions {
  readonly meanwhile: Runtime
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly screen: Screen
  readonly interrupts: Interrupts
  readonly last: LastAnnouncement
}

interface Program extends Omit<ProgramOptions, "input"> {
  readonly announcer: Announcer
}

type Ending = "quit" | "end of input" | "interrupt"

const LEAVING: ReadonlySet<string> = new Set(["exit", "q", "bye", "logout"])

/** How long Ctrl+C at the prompt lets running tasks go on. A second one does not wait. */
const DRAIN_MS = 3_000

/** Reads lines and obeys them until `quit`, the end of input, or Ctrl+C; then shuts down. */
export async function runProgram({ input, ...options }: ProgramOptions): Promise<void> {
  const { screen, meanwhile } = options
  const program: Program = { ...options, announcer: createAnnouncer(meanwhile, screen, options.last) }
  const prompt = openPrompt(input)
  try {
    await talk(program, prompt)
  } finally {
    prompt.close()
    program.announcer.close()
    await meanwhile.close()
  }
}

async function talk(program: Program, prompt: Interface): Promise<void> {
  const { screen, interrupts } = program
  if (prompt.terminal) screen.print("Meanwhile: type a command, or `help`.")
  obeyKeys(prompt, screen, interrupts)
  await program.announcer.announceLeft()
  const ending = await readLines(program, prompt)
  prompt.close()
  await shutDown(program, ending)
}

function openPrompt(input: ProgramOptions["input"]): Interface {
  if (!input.isTTY) return createInterface({ input, terminal: false })
  return createInterface({ input, output: process.stdout, terminal: true, prompt: "> " })
}

/** Ctrl+C stops a command, takes back what was typed, and leaves when it is pressed twice on an empty line. */
function obeyKeys(prompt: Interface, screen: Screen, interrupts: Interrupts): void {
  let isWarned = false
  prompt.on("line", () => {
    isWarned = false
  })
  prompt.on("SIGINT", () => {
    if (!screen.isAttached() || (isWarned && prompt.line === "")) return interrupts.raise()
    isWarned = prompt.line === ""
    prompt.write(null, { ctrl: true, name: "e" })
    prompt.write(null, { ctrl: true, name: "u" })
    if (isWarned) screen.print("Ctrl+C again leaves; `quit` does too.")
  })
}

async function readLines(program: Program, prompt: Interface): Promise<Ending> {
  const { screen, interrupts } = program
  const lines = prompt[Symbol.asyncIterator]()
  for (;;) {
    const interrupted = Promise.withResolvers<"interrupt">()
    const forget = interrupts.onNext(() => interrupted.resolve("interrupt"))
    if (prompt.terminal) screen.attach(prompt)
    const line = await Promise.race([lines.next(), interrupted.promise])
    forget()
    screen.detach()
    if (line === "interrupt") return "interrupt"
    if (line.done) return "end of input"
    if ((await obey(program, line.value)) === "quit") return "quit"
  }
}

/** A command that is refused says why; the program goes on. */
async function obey({ meanwhile, screen, announcer, interrupts }: Program, line: string): Promise<"quit" | void> {
  const { name, argument } = splitLine(line)
  if (name === "") return
  const command = findCommand(name)
  if (!command) {
    screen.print(describeUnknown(name, line.trim()))
    return
  }
  const stop = new AbortController()
  const forget = interrupts.onNext(() => stop.abort())
  try {
    return await command.run(argument, { meanwhile, screen, signal: stop.signal, announceEnd: announcer.announceEnd })
  } catch (error) {
    screen.print(plain(error instanceof Error ? error.message : String(error)))
  } finally {
    forget()
  }
}

function describeUnknown(name: string, line: string): string {
  const known = COMMANDS.find((command) => command.name === name.toLowerCase())
  if (known) return `There is no command ${JSON.stringify(name)}. Did you mean: ${known.usage}`
  if (LEAVING.has(name)) return `There is no command ${JSON.stringify(name)}. Did you mean: quit`
  const names = COMMANDS.map((each) => each.name).join(", ")
  return plain(`There is no command ${JSON.stringify(name)}; the commands are ${names}. In the shell: run ${line}`)
}

/** At the end of input what runs may finish; `quit` stops it; Ctrl+C gives it a moment, and twice none. */
async function shutDown({ meanwhile, screen, announcer, interrupts }: Program, ending: Ending): Promise<void> {
  const hurry = new AbortController()
  const forget = interrupts.onNext(() => hurry.abort())
  const running = announcer.count()
  if (running > 0) screen.print(describeEnding(ending, running))
  if (ending === "end of input") await announcer.allEnded(hurry.signal)
  announcer.close()
  await meanwhile.close({ drainMs: ending === "interrupt" ? DRAIN_MS : 0, signal: hurry.signal })
  forget()
}

function describeEnding(ending: Ending, running: number): string {
  const tasks = running === 1 ? "1 task" : `${running} tasks`
  if (ending === "end of input") return `Waiting for ${tasks} to end. Ctrl+C stops at once.`
  if (ending === "quit") return `Stopping ${tasks}…`
  return `Giving ${tasks} ${DRAIN_MS / 1_000} seconds to end. Ctrl+C again stops at once.`
}
