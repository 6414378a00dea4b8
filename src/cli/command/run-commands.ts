import { formatDuration, formatLimit, formatSurvivors, plain, plainLines, shortId } from "../format/format.ts"
import { createLineBuffer } from "../screen/line-buffer.ts"
import type { Command, TaskContext } from "./command.ts"
import { describeLack } from "./describe-lack.ts"

type Execution = ReturnType<TaskContext["desk"]["tasks"]["execute"]>
type Answer = Awaited<Execution["answer"]>

const TOOL = "run_command"

export const runCommand: Command = {
  name: "run",
  usage: "run CMD",
  summary: "run a shell command; when it takes long it moves to the background",
  async run(command, context) {
    if (command === "") {
      context.screen.print("Say what to run, for example: /run ls -l")
      return
    }
    const { screen } = context
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
  usage: "start CMD",
  summary: "run a shell command in the background at once",
  isKept: true,
  async run(command, { desk, screen, own, announceEnd }) {
    if (command === "") {
      screen.print("Say what to start, for example: /start npm test")
      return
    }
    const task = await desk.tasks.start({ tool: TOOL, input: { command } })
    own?.tasks.add(task.id)
    const lack = await describeLack(desk, task)
    screen.print(
      `[${shortId(task.id)}] is ${task.status} in the background${formatLimit(task.limits.timeoutMs)}; its end will be announced${lack}`,
    )
    announceEnd(task.id)
  },
}

function showAnswer(answer: Answer, { screen, own, announceEnd }: TaskContext): void {
  switch (answer.outcome) {
    case "completed":
      return
    case "failed":
      screen.print(`failed: ${plain(answer.failure.message)}`)
      return
    case "cancelled":
    case "timed_out": {
      const ended = answer.outcome === "cancelled" ? "cancelled" : "timed out"
      screen.print(plain(`${ended}: ${answer.reason}${formatSurvivors(answer.survivors)}`))
      return
    }
    case "promoted": {
      own?.tasks.add(answer.task.id)
      const after = formatDuration(answer.afterMs)
      const id = shortId(answer.task.id)
      screen.print(
        `[${id}] still runs after ${after} and goes on in the background${formatLimit(answer.task.limits.timeoutMs)}; its end will be announced`,
      )
      announceEnd(answer.task.id)
    }
  }
}
