import type { JsonValue } from "../../../src/base/json.ts"
import { callsOf, type FunctionCall, type Message, textOf } from "../../../src/plugin/message.ts"
import { GROUPS, type PlannedGroup } from "./delivery-plan.ts"

/**
 * A turn that its own prompt tells: `story 3: start:w1@all,call:w2|wait` starts two pieces of work, then waits for them.
 * The model has no memory of its own, so it says the same in every life of the program.
 */
export const toPrompt = (name: string, steps: string): string =>
  steps === "" ? `Hello ${name}.` : `story ${name}: ${steps}`

export interface StoryLine {
  readonly text: string
  readonly calls: readonly FunctionCall[]
}

const STORY = /story (?<name>\S+): (?<steps>\S+)$/
const CALL = /^(?<verb>\w+)(?::(?<mark>\w+)(?:@(?<group>\w+))?)?$/
const REPORT = "[Meanwhile: nobody has said anything."
const NOTICES_END = "[End of the notices.]"
/** Ends whose report starts further work, up to two times. */
const GOES_ON = /^Task \S+ \("(?<mark>n\d+o?)"\): completed\.$/gm

export function tellStory(messages: readonly Message[]): StoryLine {
  const index = messages.findLastIndex((message) => message.role === "user" && !isHandover(message))
  const asked = messages[index]
  const text = asked ? textOf(asked) : ""
  const step = messages.slice(index).filter((message) => callsOf(message).length > 0).length
  const calls = text.startsWith(REPORT) ? toOnwardCalls(text, step, index) : toCalls(text, step, messages)
  return { text: calls.length > 0 ? `Step ${step}.` : "I have heard.", calls }
}

/** True for notices that are told in the middle of a turn: they are no words of a person. */
function isHandover(message: Message): boolean {
  return textOf(message).endsWith(NOTICES_END)
}

function toOnwardCalls(text: string, step: number, index: number): readonly FunctionCall[] {
  if (step > 0) return []
  return [...text.matchAll(GOES_ON)].map(({ groups }) => {
    const mark = `${groups?.["mark"]}o`
    return { type: "call", id: `report-${index}-${mark}`, tool: "work", input: { mark } }
  })
}

function toCalls(text: string, step: number, messages: readonly Message[]): readonly FunctionCall[] {
  const { name, steps } = STORY.exec(text)?.groups ?? {}
  const wanted = steps?.split("|")[step]?.split(",") ?? []
  return wanted.map((one, place) => ({
    type: "call",
    id: `${name}-${step}-${place}-${one}`,
    ...toTool(CALL.exec(one)?.groups ?? {}, messages),
  }))
}

function toTool(
  { verb, mark = "", group }: Readonly<Record<string, string | undefined>>,
  messages: readonly Message[],
): { readonly tool: string; readonly input: JsonValue } {
  const tool = toToolOf(mark)
  const id = findTask(mark, messages)
  if (verb === "call") return { tool, input: { mark } }
  if (verb === "start" || verb === "retain") {
    const wish = group === undefined ? {} : { group: toGroupWish(group as PlannedGroup) }
    return { tool: "start_task", input: { tool, input: { mark }, ...wish, ...(verb === "retain" && { wait: true }) } }
  }
  if (verb === "wait") return { tool: "wait_for", input: {} }
  if (id !== undefined && verb === "read") return { tool: "get_task", input: { task_id: id } }
  if (id !== undefined && verb === "cancel") return { tool: "cancel_task", input: { task_id: id } }
  if (id !== undefined && verb === "acknowledge") return { tool: "acknowledge", input: { task_ids: [id] } }
  return { tool: "look", input: {} }
}

export const toToolOf = (mark: string): string => (mark.startsWith("d") ? "delicate" : "work")

function toGroupWish(group: PlannedGroup): JsonValue {
  return group === "fast" ? { name: group, fail_fast: true } : { name: group, ...GROUPS[group] }
}

/** The id of the task that an earlier step started, read from the answer to that call. */
function findTask(mark: string, messages: readonly Message[]): string | undefined {
  for (const message of messages) {
    if (message.role !== "tool") continue
    const answer = message.parts.find(({ callId }) => new RegExp(`-(?:call|start|retain):${mark}(?:@|$)`).test(callId))
    const text = answer?.content.map((part) => (part.type === "text" ? part.text : "")).join("") ?? ""
    const found = /as task (?<id>[\da-f-]{36})/.exec(text) ?? /"task_id":"(?<id>[\da-f]{8})"/.exec(text)
    if (found?.groups) return found.groups["id"]
  }
  return undefined
}
