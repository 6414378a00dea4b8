import { definePlugin } from "../../plugin/define-plugin.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionInfo, SessionState } from "../../plugin/sessions-port.ts"
import { type SessionConfig, toSessionConfig } from "./session-config.ts"
import { createSessionCommands, type ShelfIn } from "./session-commands.ts"
import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { toDescription } from "./description.ts"

export interface ShelfPluginOptions {
  readonly name: string
  /** That of the default workspace, for callers that name none. */
  readonly directory: SessionDirectory
  readonly shelfIn: ShelfIn
  /** Saves a conversation of any workspace; returns where it now is, in words for the person. */
  readonly save: (state: SessionState) => Promise<string>
  /** Called with the configuration before anything else uses it. */
  readonly configure?: (config: SessionConfig) => void
  readonly onSessionStarted: NonNullable<SessionPlugin["onSessionStarted"]>
}

/** A model that gives no description is asked again after so many turns. */
const TURNS_BETWEEN_REQUESTS = 3
const DESCRIPTION_REQUEST =
  "[Note of the system, not of the person: this conversation has no description yet. Call session_describe once, with one short line that says what it is about, and answer the message above as usual.]"

/** A session plugin over a shelf: when it saves, how it asks for a description, its tool and its commands. */
export function createShelfPlugin(options: ShelfPluginOptions): SessionPlugin {
  const { name, directory, shelfIn, save, configure, onSessionStarted } = options
  const shelf = shelfIn(directory)
  let config = toSessionConfig()
  const needsDescription = ({ description, turns }: SessionInfo) =>
    (description ?? "").trim() === "" && turns >= config.requestDescriptionAfterTurns
  const asksNow = (session: SessionInfo) =>
    needsDescription(session) && (session.turns - config.requestDescriptionAfterTurns) % TURNS_BETWEEN_REQUESTS === 0
  const describe = createSessionDescribe(shelfIn)
  return definePlugin({
    kind: "session",
    name,
    initialize(input) {
      config = toSessionConfig(input)
      configure?.(config)
    },
    async save(state) {
      await save(state)
    },
    load: (id) => shelf.load(id),
    list: () => shelf.list(),
    delete: (id) => shelf.delete(id),
    setDescription: (id, description) => shelf.setDescription(id, description),
    needsDescription,
    onSessionStarted,
    async onTurnCompleted(state) {
      if (state.turns > 0 && state.turns % config.checkpointAfterTurns === 0) await save(state)
    },
    async onSessionEnded(state) {
      if (config.autoSaveOnExit && state.messages.length > 0) await save(state)
    },
    enrichPrompt: (prompt, { session }) => ({
      prompt: session && asksNow(session) ? `${prompt}\n\n${DESCRIPTION_REQUEST}` : prompt,
    }),
    tools: [describe],
    autoApprovedTools: [describe.name],
    userCommands: createSessionCommands(shelfIn, () => config.maxKept),
  })
}

function createSessionDescribe(shelfIn: ShelfIn): Tool {
  return defineTool({
    name: "session_describe",
    background: { mode: "never" },
    description: "Sets the description by which the person finds this conversation again. Call it once when asked to.",
    input: z.strictObject({
      description: z
        .string()
        .describe("One short line, at most 120 characters, that says what the conversation is about."),
    }),
    onCrash: "retry",
    async run({ description }, { session, sessions }) {
      if (session === null) {
        throw new MeanwhileError("wrong_state", "There is no conversation to describe: session_describe is for a turn.")
      }
      const line = toDescription(description)
      if (line === "") {
        throw new MeanwhileError("invalid_input", "The description is empty. Say in one line what this is about.")
      }
      await shelfIn(sessions.directory).setDescription(session, line)
      return { description: line }
    },
  })
}
