import type { ChatContext, Command } from "./command.ts"

export const backgroundCommand: Command = {
  name: "bg",
  usage: "bg",
  summary: "move the running call to the background and talk on (also Ctrl+B on an empty line)",
  run: (_argument, context) => moveToBackground(context),
}

/** The parts of the chat that hold running work which can move to the background. */
export type MovingParts = Pick<ChatContext, "conversation" | "foreground" | "screen">

/** Moves running calls and commands to the background. The line about each stands where it began, not here. */
export async function moveToBackground({ conversation, foreground, screen }: MovingParts): Promise<void> {
  const [calls, commands] = await Promise.all([conversation.session.promote(), foreground.promote()])
  if (calls.length + commands > 0) return
  screen.print(
    conversation.session.isBusy
      ? "Nothing that runs now can move to the background. Ctrl+C stops the answer."
      : "Nothing runs that could move to the background.",
  )
}
