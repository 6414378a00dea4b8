import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { parseSessionData } from "../log/session-data.ts"
import { toSaidCollection } from "../log/settle-operations.ts"
import type { Using } from "../conversation/scope.ts"

/** A message to an agent while it worked. */
export interface SaidMessage {
  readonly id: string
  readonly text: string
}

/**
 * Leaves a message for an agent that works. Whichever process runs the agent hands it over at the next tool boundary, and
 * deletes it in the commit that puts it into the conversation. The commit that leaves the message also wakes that process:
 * a crash right after it loses neither.
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

/** Messages that the agent has not been told, in the order in which they were said. */
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

/** The messages to the agent in the run before this one, oldest first. */
export async function readSaidBefore(
  scope: Using<"children" | "open" | "store">,
  { taskId, run, workspace }: AskingRun,
): Promise<readonly string[]> {
  const before = run > 1 ? await scope.children.agents.find({ id: taskId, workspace }) : null
  if (before === null) return []
  const unheard = await readSaid(scope, { id: before, workspace })
  return [...(await readSteered(scope, before)), ...unheard.map(({ text }) => text)]
}

/**
 * A retry begins a conversation of its own. Leaves there what was said to the agent in the one before, heard or not, so
 * that it is told first. If the process dies before the commit, the repeated run does this. After it, the messages are
 * there, and the same commit is refused.
 */
export async function carrySaid(scope: Using<"store">, texts: readonly string[], child: Conversation): Promise<void> {
  const { id, workspace, position } = child.log
  if (texts.length === 0 || position > 0) return
  const collection = toSaidCollection(id)
  const puts = texts.map((text, place) => {
    const document = `carried-${String(place).padStart(6, "0")}`
    return { op: "document.put", workspace, collection, id: document, value: { text }, expectedVersion: 0 } as const
  })
  try {
    await scope.store.commit(puts)
  } catch (error) {
    if (!isMeanwhileError(error, "version_conflict")) throw error
  }
  child.hasNews = true
}

async function readSteered(scope: Using<"children" | "open" | "store">, id: SessionId): Promise<readonly string[]> {
  const here = scope.open.get(id) ?? scope.children.agents.recall(id)
  if (here) return here.log.data.steered ?? []
  const record = await scope.store.session(id)
  return record ? (parseSessionData(record.data).steered ?? []) : []
}

/** Documents are read in the order of their ids. */
function toId(now: number, place: number): string {
  return `${String(now).padStart(15, "0")}-${String(place).padStart(6, "0")}-${crypto.randomUUID().slice(0, 8)}`
}

function toText(value: unknown): string {
  const isSaid = typeof value === "object" && value !== null && "text" in value && typeof value.text === "string"
  return isSaid ? (value.text as string) : ""
}
