import { isAbsolute } from "node:path"
import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import { showModel, defineTool, type Tool } from "../../plugin/tool.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import type { UserCommand } from "../../plugin/user-command.ts"
import { type CommandCollection, createCommandCollection, type ListedCommand } from "./command-collection.ts"

export interface SlashCommandPluginOptions {
  /** Absolute folders of `name.md` files. Of two files with one name, the first wins. A missing folder counts as empty. */
  readonly directories: readonly string[]
}

export interface SlashCommandPlugin extends ToolPlugin {
  /** Reads again which commands there are. A command's text is read whenever it is used. */
  refresh(): Promise<void>
}

/** Prompts that a person keeps in files and sends by name. */
export function createSlashCommandPlugin({ directories }: SlashCommandPluginOptions): SlashCommandPlugin {
  for (const directory of directories) {
    if (isAbsolute(directory)) continue
    const message = `The slash_command plugin takes absolute directories only, not "${directory}".`
    throw new MeanwhileError("invalid_input", message, { directory })
  }
  const commands = createCommandCollection(directories)
  let known: readonly ListedCommand[] = []
  const refresh = async (): Promise<void> => {
    known = await commands.list()
  }
  return defineBuiltin<SlashCommandPlugin>({
    kind: "tool",
    name: "slash_command",
    tools: [createProcessCommand(commands)],
    autoApprovedTools: ["processCommand"],
    systemInstructions: () => toInstructions(known),
    get userCommands() {
      return known.map((listed) => toUserCommand(commands, listed))
    },
    initialize: refresh,
    refresh,
  })
}

function createProcessCommand(commands: CommandCollection): Tool {
  return defineTool({
    name: "processCommand",
    background: { mode: "never" },
    description: "Gives the text of one of the person's own commands, with its arguments filled in. It runs nothing.",
    input: z.strictObject({
      command_name: z.string().min(1).max(65).describe("Its name, with or without the slash."),
      args: z.string().max(32_768).default("").describe("What comes after the name."),
    }),
    title: ({ command_name: name }) => `look up the command ${name}`,
    onCrash: "retry",
    run: async ({ command_name: given, args }) => {
      const { name, template } = await commands.get(given.replace(/^\//, ""))
      return showModel([{ type: "text", text: fillTemplate(template, args) }], `the text of /${name}`)
    },
  })
}

function toUserCommand(commands: CommandCollection, listed: ListedCommand): UserCommand {
  const { name } = listed
  return {
    name,
    description: "problem" in listed ? `Cannot be used: ${listed.problem}` : listed.description,
    usage: "problem" in listed ? "" : listed.argumentHint,
    run: async (argument) => ({ prompt: fillTemplate((await commands.get(name)).template, argument) }),
  }
}

function toInstructions(known: readonly ListedCommand[]): string {
  const lines = known.flatMap((listed) => ("problem" in listed ? [] : [`- /${listed.name}: ${listed.description}`]))
  if (lines.length === 0) return ""
  return [
    "The person keeps these commands. When they mention one, get its text with processCommand and do what it asks:",
    ...lines,
  ].join("\n")
}

/** `\$1` stays `$1`. One pass: what an argument holds is never taken for a place to fill. */
const PLACES =
  /\\(?<plain>\$(?:ARGUMENTS\b|[1-9](?!\d)))|\$(?:ARGUMENTS\b|(?<number>[1-9])(?!\d))|\{\{ *(?:(?<slot>[1-9])|args) *\}\}/g

/**
 * Fills in what was typed after the command. `$ARGUMENTS` and `{{args}}` are all of it, `$1` and `{{1}}` its first
 * word. In a text without any place for them the arguments come last: they are never lost.
 */
export function fillTemplate(template: string, argument: string): string {
  const whole = argument.trim()
  const words = splitWords(whole)
  let hasPlace = false
  const filled = template.replaceAll(PLACES, (...match) => {
    const { plain, number, slot } = match.at(-1) as Partial<Record<string, string>>
    if (plain !== undefined) return plain
    hasPlace = true
    const position = number ?? slot
    return position === undefined ? whole : (words[Number(position) - 1] ?? "")
  })
  return hasPlace || whole === "" ? filled.trim() : `${filled.trim()}\n\n${whole}`
}

/** Splits at spaces, except inside quotes, which are taken off. A quote that is not closed is a plain character. */
export function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  )
}
