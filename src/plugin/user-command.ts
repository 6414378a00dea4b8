import type { SessionId, WorkspaceId } from "../task/id.ts"
import type { Log } from "./context.ts"
import type { DocumentsPort } from "./documents-port.ts"
import type { PersonPort } from "./person-port.ts"
import type { SessionsPort, SessionState } from "./sessions-port.ts"
import type { TaskService } from "./task-service.ts"

export interface CommandContext {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly signal: AbortSignal
  readonly tasks: TaskService
  readonly person: PersonPort
  readonly sessions: SessionsPort
  /** The same documents that the tools of the command's plugin have. */
  readonly documents: DocumentsPort
  /** The conversation that the command was typed in, as it stands; null outside of one. */
  state(): Promise<SessionState | null>
  /** Switches to another conversation. Refused as `wrong_state` if the front end has only one. */
  switchTo(id: string): Promise<void>
  readonly log: Log
}

/** A command that a person types. The model is not involved. */
export interface UserCommand {
  readonly name: string
  /** One line for `/help`, in the form of the built-in commands: a verb first, in lower case, without a full stop. */
  readonly description: string
  /** Arguments after the name, for example `[ID]`. Default: none. */
  readonly usage?: string
  /** Puts the command and its text into the conversation, where the model sees them. Default false. */
  readonly shareWithModel?: boolean
  /** `argument` is the rest of the line. The returned text is shown to the person. */
  run(argument: string, context: CommandContext): Promise<CommandOutput> | CommandOutput
}

/** `prompt`: the person is shown nothing, and the model is sent this text as the person's own words. */
export type CommandOutput = string | { readonly prompt: string }
