import type { SessionId, WorkspaceId } from "../task/id.ts"
import type { Log } from "./context.ts"
import type { TaskService } from "./task-service.ts"

export interface CommandContext {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly signal: AbortSignal
  readonly tasks: TaskService
  readonly log: Log
}

/** What a person types, without the model in between. */
export interface UserCommand {
  readonly name: string
  readonly description: string
  /** Puts the command and its text into the conversation, where the model sees them. Default false. */
  readonly shareWithModel?: boolean
  /** `argument` is the rest of the line. The returned text is shown to the person. */
  run(argument: string, context: CommandContext): Promise<string> | string
}
