import { z } from "zod"
import type { ToolContext } from "../../../src/plugin/context.ts"
import type { PersonAnswer, PersonChannel, Question } from "../../../src/plugin/person-port.ts"
import { defineTool, type Tool } from "../../../src/plugin/tool.ts"
import type { CommandContext } from "../../../src/plugin/user-command.ts"
import type { SessionId } from "../../../src/task/id.ts"
import {
  createPermissionPlugin,
  type PermissionPluginOptions,
} from "../../../src/builtin/permission/permission-plugin.ts"
import { parsed } from "../plugin/parsed.ts"

export const SESSION = "session-1" as SessionId
export const CHILD = "session-2" as SessionId
const never = new AbortController().signal

export const remove: Tool = defineTool({
  name: "remove",
  description: "Removes a file.",
  input: z.object({ path: z.string(), password: z.string().optional(), isDry: z.boolean().default(false) }),
  effects: ({ isDry }) => (isDry ? [] : ["delete"]),
  preview: ({ path }) => `- ${path}`,
  run: async () => null,
})

/** A person who gives these answers one after the other. When none is left, the question stays open. */
export function createPerson(...answers: string[]) {
  const questions: Question[] = []
  const open: ((answer: PersonAnswer) => void)[] = []
  const channel: PersonChannel = {
    name: "test",
    ask(question) {
      questions.push(question)
      const value = answers.shift()
      const { promise, resolve } = Promise.withResolvers<PersonAnswer>()
      if (value === undefined) open.push(resolve)
      else
        resolve({
          isAnswered: true,
          value: question.options?.find((option) => option.startsWith(value)) ?? value,
          by: "me",
        })
      return promise
    },
  }
  return { channel, questions, open }
}

export function createTestPermission(options: Partial<PermissionPluginOptions> = {}, definition: Tool = remove) {
  const parts = createPermissionPlugin({
    autoApproved: () => [],
    findTool: (name) => {
      if (name !== definition.name) throw new Error(`there is no tool ${name}`)
      return { plugin: "files", tool: definition }
    },
    ...options,
  })
  const decide = async (input: unknown, session: SessionId | null = SESSION, signal: AbortSignal = never, more = {}) =>
    parts.permission.decide({
      call: { tool: definition.name, input, session },
      plugin: "files",
      tool: definition.name,
      input,
      definition,
      isInBackground: async () => false,
      beforeAsking: async () => {},
      signal,
      ...more,
    })
  const askAhead = async (input: object) => {
    const [tool] = parts.plugin.tools
    const nobody = { ask: async () => ({ isAnswered: false, reason: "nobody is there" }) as const }
    const person = options.channel?.() ?? nobody
    return tool?.run(parsed(tool.input, input), { session: SESSION, signal: never, person } as unknown as ToolContext)
  }
  const type = (argument: string) =>
    parts.plugin.userCommands?.[0]?.run(argument, { session: SESSION } as unknown as CommandContext)
  return { ...parts, decide, askAhead, type }
}
