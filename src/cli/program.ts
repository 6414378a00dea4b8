import { createInterface } from "node:readline"
import type { Meanwhile } from "../app.ts"
import { type Announcer, createAnnouncer } from "./announcer.ts"
import { splitLine } from "./command.ts"
import { COMMANDS, findCommand } from "./commands.ts"
import type { Screen } from "./screen.ts"

export interface ProgramStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly screen: Screen
}

/** How long Ctrl+C at the prompt lets running tasks go on. A second one does not wait. */
const DRAIN_MS = 3_000

/** Reads lines and obeys them until `quit`, the end of input, or Ctrl+C; then shuts down. */
export async function runProgram(
  meanwhile: Meanwhile,
  { input, screen }: ProgramStreams,
  interrupts: Interrupts,
): Promise<void> {
  const announcer = createAnnouncer(meanwhile, screen)
  const isInteractive = input.isTTY === true
  const prompt = createInterface({
    input,
    terminal: isInteractive,
    prompt: isInteractive ? "> " : "",
    ...(isInteractive && { output: process.stdout }),
  })
  if (isInteractive) {
    screen.print("Meanwhile: type a command, or `help`.")
    screen.attach(prompt)
    prompt.on("SIGINT", () => interrupts.raise())
  }
  await announcer.announceLeft()
  const ending = await readLines(prompt, meanwhile, screen, announcer, interrupts)
  prompt.close()
  screen.detach()
  await shutDown(meanwhile, screen, announcer, ending, interrupts)
}

type Ending = "quit" | "end of input" | "interrupt"

async function readLines(
  prompt: ReturnType<typeof createInterface>,
  meanwhile: Meanwhile,
  screen: Screen,
  announcer: Announcer,
  interrupts: Interrupts,
): Promise<Ending> {
  const lines = prompt[Symbol.asyncIterator]()
  for (;;) {
    const interrupted = interrupts.next()
    if (prompt.terminal) prompt.prompt()
    const line = await Promise.race([lines.next(), interrupted.then(() => "interrupt" as const)])
    if (line === "interrupt") return "interrupt"
    if (line.done) return "end of input"
    if ((await obey(line.value, meanwhile, screen, announcer, interrupts)) === "quit") return "quit"
  }
}

/** A command that is refused says why; the program goes on. */
async function obey(
  line: string,
  meanwhile: Meanwhile,
  screen: Screen,
  announcer: Announcer,
  interrupts: Interrupts,
): Promise<"quit" | void> {
  const { name, argument } = splitLine(line)
  if (name === "") return
  const command = findCommand(name)
  if (!command) {
    screen.print(
      `There is no command ${JSON.stringify(name)}. The commands are ${COMMANDS.map((each) => each.name).join(", ")}.`,
    )
    return
  }
  const stop = new AbortController()
  void interrupts.next().then(() => stop.abort())
  try {
    return await command.run(argument, { meanwhile, screen, signal: stop.signal, announceEnd: announcer.announceEnd })
  } catch (error) {
    screen.print(error instanceof Error ? error.message : String(error))
  }
}

/** At the end of input what runs may finish; `quit` stops it; Ctrl+C gives it a moment, and twice none. */
async function shutDown(
  meanwhile: Meanwhile,
  screen: Screen,
  announcer: Announcer,
  ending: Ending,
  interrupts: Interrupts,
): Promise<void> {
  const hurry = new AbortController()
  void interrupts.next().then(() => hurry.abort())
  const running = announcer.count()
  if (running > 0) screen.print(describeEnding(ending, running))
  if (ending === "end of input") await announcer.allEnded(hurry.signal)
  announcer.close()
  await meanwhile.close({ drainMs: ending === "interrupt" ? DRAIN_MS : 0, signal: hurry.signal })
}

function describeEnding(ending: Ending, running: number): string {
  const tasks = running === 1 ? "1 task" : `${running} tasks`
  if (ending === "end of input") return `Waiting for ${tasks} to end. Ctrl+C stops at once.`
  if (ending === "quit") return `Stopping ${tasks}…`
  return `Giving ${tasks} ${DRAIN_MS / 1_000} seconds to end. Ctrl+C again stops at once.`
}

/** Ctrl+C and SIGTERM, one at a time. */
export interface Interrupts {
  raise(): void
  /** Resolves at the next one. */
  next(): Promise<void>
}

export function createInterrupts(): Interrupts {
  let upcoming = Promise.withResolvers<void>()
  return {
    raise() {
      upcoming.resolve()
      upcoming = Promise.withResolvers()
    },
    next: () => upcoming.promise,
  }
}
