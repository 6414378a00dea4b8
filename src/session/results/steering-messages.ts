import { MeanwhileError } from "../../base/error.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { toSaidCollection } from "../log/settle-operations.ts"
import type { Using } from "../conversation/scope.ts"

/** A message to an agent while it worked. */
export interface SaidMessage {
  readonly id: string
  readonly text: string
}

/**
 * Leaves a message for an agent that works: it is handed over at its next tool boundary, by whichever process runs it,
 * and goes in the commit that puts it into the conversation. The commit that leaves it wakes that process; dying right
 * after it loses neither.
 */
export async function leaveMessage(
  scope: Using<"clock" | "redactor" | "store">,
  workspace: WorkspaceId,
  session: SessionId,
  text: string,
): Promise<void> {
  if (text.trim() === "") throw new MeanwhileError("invalid_input", "The message is empty. Say something.")
  const { store, clock, redactor } = scope
  const collection = toSaidCollection(session)
  const value = { text: redactor.redactText(text) }
  const { length } = await store.documents(workspace, collection)
  const id = toId(clock.now(), length)
  await store.commit([{ op: "document.put", workspace, collection, id, value, expectedVersion: 0, wakes: session }])
}

/** In the order in which they were said. */
export async function readSaid(
  { store }: Using<"store">,
  { id, workspace }: { readonly id: SessionId; readonly workspace: WorkspaceId },
): Promise<readonly SaidMessage[]> {
  const documents = await store.documents(workspace, toSaidCollection(id))
  return documents.map(({ id: said, value }) => ({ id: said, text: toText(value) }))
}

export function toSaidText(said: readonly SaidMessage[]): string {
  if (said.length === 0) return ""
  return ["[Said to you while you worked:]", ...said.map(({ text }) => text)].join("\n")
}

/** Documents are read in the order of their ids. */
function toId(now: number, place: number): string {
  return `${String(now).padStart(15, "0")}-${String(place).padStart(6, "0")}-${crypto.randomUUID().slice(0, 8)}`
}

function toText(value: unknown): string {
  const isSaid = typeof value === "object" && value !== null && "text" in value && typeof value.text === "string"
  return isSaid ? (value.text as string) : ""
}
