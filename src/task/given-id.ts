import { MeanwhileError } from "../base/error.ts"
import type { GroupId, MessageId, SessionId, TaskId, WaitId, WorkerId, WorkspaceId } from "./id.ts"
import { DEFAULT_WORKSPACE } from "./id.ts"

/** What an id stands for. */
interface Ids {
  readonly group: GroupId
  readonly message: MessageId
  readonly session: SessionId
  readonly task: TaskId
  readonly wait: WaitId
  readonly worker: WorkerId
  readonly workspace: WorkspaceId
}

const LONGEST_ID = 512

/**
 * An id that a caller gave as a plain string, in a field of this name. What no record can have is refused as `invalid_input`,
 * before a store sees it: an index refuses a long text, and a server a control character. Whether there is such a record is for
 * the reader to say.
 */
export function toGivenId<Kind extends keyof Ids>(kind: Kind, given: string, field: string = kind): Ids[Kind] {
  if (isIdText(given)) return given as Ids[Kind]
  const text = `\`${field}\` is no id: an id is a text of 1 to ${LONGEST_ID} characters, without control characters.`
  throw new MeanwhileError("invalid_input", text, { field })
}

/** Null where no id is given. */
export function toOptionalId<Kind extends keyof Ids>(
  kind: Kind,
  given: string | null | undefined,
  field: string = kind,
): Ids[Kind] | null {
  return given === null || given === undefined ? null : toGivenId(kind, given, field)
}

/** Default: the one of whoever has only one. */
export function toGivenWorkspace(given: string = DEFAULT_WORKSPACE): WorkspaceId {
  return toGivenId("workspace", given)
}

/** True for a text that an id can be. */
export function isIdText(given: unknown): given is string {
  return (
    typeof given === "string" &&
    given.length > 0 &&
    given.length <= LONGEST_ID &&
    given.isWellFormed() &&
    !/\p{Cc}/u.test(given)
  )
}
