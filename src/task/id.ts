export type TaskId = Brand<"TaskId">
export type SessionId = Brand<"SessionId">
export type MessageId = Brand<"MessageId">
export type GroupId = Brand<"GroupId">
export type WaitId = Brand<"WaitId">
export type WorkspaceId = Brand<"WorkspaceId">
/** One process that runs tasks, for as long as it lives. A restart is another worker. */
export type WorkerId = Brand<"WorkerId">
/** `sha256:` and 64 hexadecimal digits. */
export type ArtifactHash = Brand<"ArtifactHash">

export const DEFAULT_WORKSPACE = "default" as WorkspaceId

/** A UUID is joined from twenty pieces, which V8 keeps; in lower case it is one string of a seventh of the size. */
export const createTaskId = (): TaskId => crypto.randomUUID().toLowerCase() as TaskId
export const createWorkerId = (): WorkerId => crypto.randomUUID() as WorkerId
export const createWaitId = (): WaitId => crypto.randomUUID() as WaitId
export const createGroupId = (): GroupId => crypto.randomUUID() as GroupId
export const createSessionId = (): SessionId => crypto.randomUUID() as SessionId

declare const brand: unique symbol

/** A string that can only be made where it is meant to be made, so that one kind of id never passes for another. */
type Brand<Name extends string> = string & { readonly [brand]: Name }
