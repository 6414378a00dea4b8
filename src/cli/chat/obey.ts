import { toErrorMessage } from "../../base/error.ts"
import { type ChatContext, splitLine } from "../command/command.ts"
import { describeUnknown, findCommand, pluginCommands } from "../command/commands.ts"
import { plain } from "../format.ts"

/** Does what a line asks for: a command after a slash, else it is said to the model. One that is refused says why. */
export async function obey(line: string, context: ChatContext): Promise<"quit" | void> {
  const text = line.trim()
  if (text === "") return
  if (!text.startsWith("/")) return say(text, context)
  try {
    return await obeyCommand(text, context)
  } catch (error) {
    context.screen.print(context.screen.style.red(plain(toErrorMessage(error))))
  }
}

/** Only the main agent hears what is said, whichever is shown. */
function say(text: string, { conversation, selection, screen }: ChatContext): Promise<void> {
  if (!selection.showsMain()) screen.print(screen.style.dim("(the main agent hears it; /agents main shows its answer)"))
  return conversation.say(text)
}

async function obeyCommand(text: string, context: ChatContext): Promise<"quit" | void> {
  const { name, argument } = splitLine(text.slice(1))
  const command = findCommand(name)
  if (command) return command.run(argument, context)
  const { meanwhile, screen, conversation, signal } = context
  const wanted = name.toLowerCase()
  const owned = pluginCommands(meanwhile).find((each) => each.command.name.toLowerCase() === wanted)
  if (!owned) return screen.print(describeUnknown(name, meanwhile))
  const output = await conversation.session.runCommand(owned.command.name, argument, {
    signal,
    switchTo: (id) => conversation.switchTo(id),
  })
  if (typeof output !== "string") return say(output.prompt, context)
  if (output !== "") screen.print(plain(output))
}
