import { formatDuration, formatLimit, formatSurvivors, plain, plainLines, shortId } from "../format/format.ts"
import { createLineBuffer } from "../screen/line-buffer.ts"
import { type Command, splitLine, type TaskContext, toUnknownArgument } from "./command.ts"
import { describeLack } from "./describe-lack.ts"
import { readLimitMs } from "./read-duration.ts"

type Tasks = TaskContext["desk"]["tasks"]
type Call = Parameters<Tasks["start"]>[0]
type Answer = Awaited<ReturnType<Tasks["execute"]>["answer"]>

const TOOL = "run_command"

export const runCommand: Command = {
  name: "run",
  usage: "run CMD",
  summary: "run a shell command; when it takes long it moves to the background",
  async run(command, context) {
    const { screen } = context
    if (command === "") return screen.print("Say what to run, for example: /run ls -l")
    const call = { tool: TOOL, input: { command } }
    const output = createLineBuffer((lines) => screen.print(lines.join("\n")))
    const execution = context.desk.tasks.execute(call, { onOutput: (text) => output.push(plainLines(text)) })
    const cancel = () => execution.cancel({ by: "person", reason: "Ctrl+C" })
    context.signal.addEventListener("abort", cancel, { once: true })
    const withdraw = context.foreground.offer(() => execution.promote())
    try {
      const answer = await execution.answer
      output.flush()
      showAnswer(answer, context)
    } finally {
      withdraw()
      context.signal.removeEventListener("abort", cancel)
    }
  },
}

export const startCommand: Command<TaskContext> = {
  name: "start",
  usage: "start [OPTIONS] CMD",
  summary:
    "run a shell command in the background at once; --limit 2h (or none): how long it may run; --forever: also without this program",
  isKept: true,
  async run(argument, { desk, screen, own, announceEnd }) {
    const { command, ...asked } = readStart(argument)
    if (command === "") return screen.print("Say what to start, for example: /start npm test")
    const task = await desk.tasks.start({ tool: TOOL, input: { command }, ...asked })
    own?.tasks.add(task.id)
    const lasting = task.lifetime === "forever" ? ", also without this program" : ""
    const standing = `is ${task.status} in the background${formatLimit(task.limits.timeoutMs)}${lasting}`
    screen.print(`[${shortId(task.id)}] ${standing}; its end will be announced${await describeLack(desk, task)}`)
    announceEnd(task.id)
  },
}

interface StartRequest extends Pick<Call, "lifetime" | "timeoutMs"> {
  readonly command: string
}

/** Reads the options before the command. `--` ends them. */
function readStart(argument: string, known: Omit<StartRequest, "command"> = {}): StartRequest {
  const { name, argument: rest } = splitLine(argument)
  if (!name.startsWith("--")) return { command: argument, ...known }
  if (name === "--") return { command: rest, ...known }
  if (name === "--forever") return readStart(rest, { ...known, lifetime: "forever" })
  const [option, value] = name.split("=", 2)
  if (option !== "--limit") throw toUnknownArgument(startCommand.usage, name, ". The options are --limit and --forever")
  const { name: time, argument: after } = value === undefined ? splitLine(rest) : { name: value, argument: rest }
  return readStart(after, { ...known, timeoutMs: readLimitMs(time) })
}

function showAnswer(answer: Answer, { screen, own, announceEnd }: TaskContext): void {
  switch (answer.outcome) {
    case "completed":
      return
    case "failed":
      return screen.print(`failed: ${plain(answer.failure.message)}`)
    case "cancelled":
    case "timed_out": {
      const ended = answer.outcome === "cancelled" ? "cancelled" : "timed out"
      return screen.print(plain(`${ended}: ${answer.reason}${formatSurvivors(answer.survivors)}`))
    }
    case "promoted": {
      const { id, limits } = answer.task
      own?.tasks.add(id)
      const moved = `still runs after ${formatDuration(answer.afterMs)} and goes on in the background`
      screen.print(`[${shortId(id)}] ${moved}${formatLimit(limits.timeoutMs)}; its end will be announced`)
      announceEnd(id)
    }
  }
}
