import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { countOf, plain, toLine } from "../format/format.ts"
import { formatCost, formatCount, formatPercent } from "../format/format-accounting.ts"
import { type ChatContext, type Command, toUnknownArgument } from "./command.ts"

type FoundTool = ReturnType<ChatContext["meanwhile"]["plugins"]["tools"]>[number]

export const toolsCommand: Command = {
  name: "tools",
  usage: "tools",
  summary: "list the model's tools by plugin, and when a call moves to the background",
  async run(_argument, { meanwhile, screen, conversation }) {
    const offered = new Set(conversation.session.tools().map(({ name }) => name))
    const byPlugin = Object.groupBy(
      meanwhile.plugins.tools().filter(({ tool }) => offered.has(tool.name)),
      ({ plugin }) => plugin,
    )
    const blocks = Object.entries(byPlugin).map(([plugin, found = []]) => {
      const width = Math.max(...found.map(({ tool }) => tool.name.length))
      const lines = found.map(({ tool }) => `  ${toLine(tool.name).padEnd(width)}  ${describeBackground(tool)}`)
      return [screen.style.bold(toLine(plugin)), ...lines].join("\n")
    })
    screen.print(blocks.length > 0 ? blocks.join("\n") : "The model is offered no tools.")
    for (const { message } of meanwhile.plugins.skipped()) screen.print(`Not available: ${plain(message)}`)
  },
}

function describeBackground({ background = { mode: "after" } }: FoundTool["tool"]): string {
  if (typeof background === "function") return "moves to the background when the call is a long one"
  switch (background.mode) {
    case "always":
      return "always in the background"
    case "after":
      return background.ms === undefined
        ? "moves to the background when it takes long"
        : `moves to the background after ${background.ms / 1_000} s`
    case "on_request":
      return "in the foreground, unless it is started as a task"
    case "never":
      return "in the foreground"
  }
}

export const modelCommand: Command = {
  name: "model",
  usage: "model [PROVIDER/NAME]",
  summary: "show the model and the providers, or go on with another model",
  async run(id, { meanwhile, screen, conversation }) {
    const { session } = conversation
    if (id !== "") {
      await session.useModel(id)
      return screen.print(`From the next answer on: ${plain(session.model)}`)
    }
    const providers = meanwhile.plugins
      .list({ kind: "model_provider", isExposed: true })
      .flatMap(({ plugin }) => (plugin.kind === "model_provider" ? [plugin] : []))
    const width = Math.max(...providers.map(({ name }) => name.length))
    const states = await Promise.all(providers.map(describeProvider))
    const rows = providers.map(({ name }, index) => `  ${name.padEnd(width)}  ${states[index]}`)
    screen.print([`Model: ${plain(session.model)}`, "Providers:", ...rows, "Change: /model PROVIDER/NAME"].join("\n"))
  },
}

type Plugin = ReturnType<ChatContext["meanwhile"]["plugins"]["list"]>[number]["plugin"]
type Provider = Extract<Plugin, { kind: "model_provider" }>

/** A provider that is not set up says what is missing when a model is connected. Nothing is sent anywhere. */
async function describeProvider(provider: Provider): Promise<string> {
  if (!provider.isConfigured) return "needs no key"
  if (provider.isConfigured()) return "ready"
  try {
    await provider.connect("any")
    return "needs no key"
  } catch (error) {
    const variables = isMeanwhileError(error, "key_missing") ? error.details["variables"] : undefined
    return Array.isArray(variables)
      ? `not set up: set ${variables.join(" or ")}`
      : `not set up: ${plain(toErrorMessage(error))}`
  }
}

export const contextCommand: Command = {
  name: "context",
  usage: "context [collect]",
  summary: "show how full the context is and what it cost; `collect` makes room now",
  async run(argument, { meanwhile, screen, conversation }) {
    const { session } = conversation
    if (argument.toLowerCase() === "collect") {
      screen.print(plain(await session.collect("the person asked for it")))
    } else if (argument !== "") throw toUnknownArgument(contextCommand.usage, argument)
    const { usedTokens, limitTokens, percentUsed, turns } = session.contextUsage()
    const { usage, costMicros } = meanwhile.ledger.total({ session: session.id })
    const full = `${formatCount(usedTokens)} of ${formatCount(limitTokens)} tokens (${formatPercent(percentUsed)})`
    const context = `Context: ${full}, ${session.history().length} messages, ${countOf(turns, "turn")}`
    const tokens = `${formatCount(usage.inputTokens)} tokens in, ${formatCount(usage.outputTokens)} out`
    const { instructionFiles } = meanwhile
    if (instructionFiles.length > 0) screen.print(`Instructions: ${instructionFiles.map(toLine).join(", ")}`)
    screen.print(`${context}\nSpent since the start: ${tokens}${costMicros ? `, ${formatCost(costMicros)}` : ""}`)
  },
}

export const resetCommand: Command = {
  name: "reset",
  usage: "reset",
  summary: "start over: the model forgets the conversation; the record keeps it",
  async run(_argument, { screen, conversation }) {
    await conversation.session.reset()
    screen.print("The conversation begins anew.")
  },
}
