import { shorten } from "../../base/shorten.ts"
import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { AgentAnswer } from "../../plugin/agent-request.ts"
import { contentOf } from "../../plugin/tool.ts"
import type { Patch } from "../../task/patch.ts"
import type { TaskKind, TaskRecord } from "../../task/record.ts"
import type { Survivors } from "../../task/stop.ts"
import { toArtifactText } from "./artifact-text.ts"

export interface ResultStyle {
  /** True if the parts of a result get labels, such as `Summary:`, as in a report. */
  readonly hasLabels: boolean
}

/** The whole result of an ended run, in words. Empty when there is nothing beside its status. */
export function toResultText(task: TaskRecord, { hasLabels }: ResultStyle = { hasLabels: false }): string {
  switch (task.status) {
    case "completed":
      return toPatchText(task.kind, task.patch, hasLabels) || (hasLabels ? "Task completed successfully." : "")
    case "failed":
      return joinLines([task.failure.message, task.patch && toPatchText(task.kind, task.patch, hasLabels)])
    case "interrupted":
      return task.failure.message
    case "cancelled":
    case "timed_out":
      return joinLines([
        task.stop.reason,
        toSurvivorText(task.survivors),
        task.patch && toPatchText(task.kind, task.patch, hasLabels),
      ])
    default:
      return ""
  }
}

/** The result in about a hundred tokens. */
export function toShortText(task: TaskRecord): string {
  const patch = "patch" in task ? task.patch : null
  const text = task.status === "completed" && patch ? patch.digest.join(" ") : toResultText(task)
  const line = text.replace(/\s+/g, " ").trim()
  return shorten(line, SHORT_CHARACTERS)
}

const SHORT_CHARACTERS = 400

function toPatchText(kind: TaskKind, patch: Patch, hasLabels: boolean): string {
  const { facts, artifacts, nextSteps } = patch
  const main = toMainText(kind, patch)
  const isShown = kind === "tool" && typeof patch.payload === "object" && patch.payload !== null
  return joinLines([
    main !== "" && hasLabels ? `Summary: ${main}` : main,
    Object.keys(facts).length > 0 && (hasLabels || !isShown) && `Facts discovered: ${toFactText(facts)}`,
    artifacts.length > 0 &&
      `Artifacts produced: ${toCount(artifacts.length)} (${artifacts.map(toArtifactText).join("; ")})`,
    nextSteps.length > 0 && `Suggested next steps: ${nextSteps.join(", ")}`,
  ])
}

/** A tool's result is its payload. An agent's is its digest or, without one, its last text. */
function toMainText(kind: TaskKind, patch: Patch): string {
  if (kind === "tool" || patch.digest.length === 0) return toPayloadText(patch)
  return (kind === "agent" && toAgentText(patch.payload)) || patch.digest.join("\n")
}

/** The whole digest or answer of an agent: the digest of the record is cut for lists. */
function toAgentText(payload: JsonValue): string | undefined {
  const { answer, digest } = (payload ?? {}) as Partial<AgentAnswer>
  if (Array.isArray(digest)) return digest.filter((line) => typeof line === "string").join("\n")
  return typeof answer === "string" ? answer : undefined
}

function toPayloadText({ payload, digest }: Pick<Patch, "payload" | "digest">): string {
  if (typeof payload === "string") return payload
  const shown = contentOf(payload)
  if (shown) return shown.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n")
  return payload === null ? digest.join("\n") : JSON.stringify(payload)
}

const toFactText = (facts: JsonObject): string => JSON.stringify(facts, null, 2)
const toCount = (count: number): string => (count === 1 ? "1 item" : `${count} items`)

function toSurvivorText(survivors: Survivors): string {
  if (survivors === "unknown") return "Whether all of it is gone is not known."
  if (survivors.length === 0) return ""
  return `Still alive: ${survivors.map(({ pid, command }) => `${pid} (${command})`).join(", ")}`
}

function joinLines(lines: readonly (string | false | null)[]): string {
  return lines.filter(Boolean).join("\n")
}
