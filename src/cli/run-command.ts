import type { Command, CommandContext } from "./command.ts"
import { formatDuration, formatSurvivors, plain, shortId } from "./format.ts"

type Execution = ReturnType<CommandContext["meanwhile"]["tasks"]["execute"]>
type Answer = Awaited<Execution["answer"]>

export const runCommand: Command = {
  name: "run",
  usage: "run CMD",
  summary: "run a shell command; when it takes long it moves to the background",
  async run(command, context) {
    if (command === "") {
      context.screen.print("Say what to run, for example: run ls -l")
      return
    }
    const { screen } = context
    const call = { tool: "run_command", input: { command } }
    const execution = context.meanwhile.tasks.execute(call, { onOutput: (text) => screen.write(text) })
    const cancel = () => execution.cancel({ by: "person", reason: "Ctrl+C" })
    context.signal.addEventListener("abort", cancel, { once: true })
    try {
      showAnswer(await execution.answer, context)
    } finally {
      context.signal.removeEventListener("abort", cancel)
    }
  },
}

function showAnswer(answer: Answer, { screen, announceEnd }: CommandContext): void {
  switch (answer.outcome) {
    case "completed":
      return
    case "failed":
      screen.print(`failed: ${plain(answer.failure.message)}`)
      return
    case "cancelled":
    case "timed_out":
      screen.print(
        `${answer.outcome === "cancelled" ? "cancelled" : "timed out"}: ${answer.reason}${formatSurvivors(answer.survivors)}`,
      )
      return
    case "promoted":
      screen.print(
        `[${shortId(answer.task.id)}] still runs after ${formatDuration(answer.afterMs)} and goes on in the background; its end will be announced`,
      )
      announceEnd(answer.task.id)
  }
}
