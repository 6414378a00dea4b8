import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { isForsaken } from "../start/away-store.ts"
import { type ChatContext, splitLine, toUnknownArgument } from "../command/command.ts"
import { describeUnknown, findCommand, findPluginCommand } from "../command/commands.ts"
import { plain } from "../format/format.ts"
import type { Conversation } from "./conversation.ts"
import { recall } from "./greeting.ts"
import type { Question } from "../question/read-answer.ts"

/** The means of a line beyond those of a command: it may be said to the model, or switch the conversation. */
export interface LineContext extends ChatContext {
  readonly conversation: Conversation
}

/** Runs a command after a slash; says everything else to the model. Prints why a command was refused. */
export async function runLine(line: string, context: LineContext): Promise<"quit" | void> {
  const text = line.trim()
  if (text === "") return
  if (!text.startsWith("/")) return say(text, context)
  try {
    return await runCommandLine(text, context)
  } catch (error) {
    if (isMeanwhileError(error, "store_unavailable") && isKept(text)) context.giveBack(text)
    if (isForsaken(error, context.gone)) return
    context.screen.print(context.screen.style.red(plain(toErrorMessage(error))))
  }
}

/** True if a line is a command while a question is open. An answer in the person's words may begin with a slash, too. */
export function isCommand(line: string, meanwhile: ChatContext["meanwhile"], question: Question): boolean {
  const text = line.trim()
  if (!text.startsWith("/")) return false
  if (question.kind !== "text" && !question.allowsText) return true
  const wanted = splitLine(text.slice(1)).name
  return findCommand(wanted) !== undefined || findPluginCommand(wanted, meanwhile) !== undefined
}

/** True if a person would miss a line that was lost: a message, or a command that changes something. */
export function isMissed(line: string): boolean {
  const text = line.trim()
  return !text.startsWith("/") || isKept(text)
}

/** True if a command changes something, or may: what a plugin's command does is not known. */
function isKept(text: string): boolean {
  const command = findCommand(splitLine(text.slice(1)).name)
  return command === undefined || command.isKept === true
}

/** True if a line ends the chat. */
export function isQuit(line: string): boolean {
  const text = line.trim()
  const { name, argument } = splitLine(text.slice(1))
  return text.startsWith("/") && findCommand(name)?.name === "quit" && argument === ""
}

/** Only the main agent hears a message, whichever agent is shown. */
function say(text: string, { conversation, selection, screen }: LineContext): Promise<void> {
  if (!selection.showsMain()) screen.print(screen.style.dim("(the main agent hears it; /agents main shows its answer)"))
  return conversation.say(text)
}

async function runCommandLine(text: string, context: LineContext): Promise<"quit" | void> {
  const { name, argument } = splitLine(text.slice(1))
  const command = findCommand(name)
  if (command && argument !== "" && command.usage === command.name) throw toUnknownArgument(command.usage, argument)
  if (command) return command.run(argument, context)
  const { meanwhile, screen, conversation, signal } = context
  const owned = findPluginCommand(name, meanwhile)
  if (!owned) return screen.print(describeUnknown(name, meanwhile))
  const before = conversation.session
  const output = await conversation.session.runCommand(owned.command.name, argument, {
    signal,
    switchTo: (id) => conversation.switchTo(id),
  })
  if (typeof output !== "string") return say(output.prompt, context)
  if (output !== "") screen.print(plain(output))
  if (conversation.session !== before) {
    for (const line of await recall(conversation.session)) screen.print(screen.style.dim(line))
    await context.announceOpened(conversation.session.id)
  }
}
