import { callsOf, type FunctionCall, type Message, textOf } from "../../../src/plugin/message.ts"

/**
 * A turn that its own prompt tells: `story a: look,note|build,pay` asks for two tools at once, then for two more, then
 * says that it is done. The model has no memory of its own, so it says the same in every life of the program.
 */
export interface StoryPlace {
  /** The name in the prompt, or the text of a message without a story. */
  readonly story: string
  /** How many answers with calls the model has given in the turn. */
  readonly step: number
}

export interface StoryLine {
  readonly text: string
  readonly calls: readonly FunctionCall[]
}

export const FINAL_TEXT = "All of it is done."

/** The last line of a message: notices stand before the person's words. */
const PROMPT = /[^\n]*$/
/** A story may spawn a subagent, which always tells the same story. */
export const SPAWN = "spawn_subagent"
export const CHILD_STEPS = [["note"], ["look"]] as const
export const toChild = (story: string): string => `${story}-child`

const STORY = /story (?<name>[\w-]+): (?<steps>[\w,|]+)$/

export const toPrompt = (name: string, steps: readonly (readonly string[])[]): string =>
  `story ${name}: ${steps.map((tools) => tools.join(",")).join("|")}`

/** `asked`: the last message of the person. `step`: how many answers of the model came after it. */
export function tellStory(asked: string, step: number): StoryLine & { readonly place: StoryPlace } {
  const { name = PROMPT.exec(asked)?.[0] ?? "", steps = "" } = STORY.exec(asked)?.groups ?? {}
  const tools = steps === "" ? [] : (steps.split("|")[step]?.split(",") ?? [])
  const place = { story: name, step }
  const calls = tools.map((tool) => toCall(name, step, tool))
  const text = calls.length > 0 ? `Step ${step}.` : steps === "" ? "I have heard." : FINAL_TEXT
  return { place, text, calls }
}

/** Names a call by its step and tool, so that the key is the same in every life. */
export const toCallKey = (step: number, tool: string): string => `${step}.${tool}`

function toCall(story: string, step: number, tool: string): FunctionCall {
  const work = { task: toPrompt(toChild(story), CHILD_STEPS), handover: "none" }
  const input = tool === SPAWN ? work : { key: toCallKey(step, tool) }
  return { type: "call", id: `call-${step}-${tool}`, tool, input }
}

/** True for notices in the middle of a turn, which are no words of a person. */
const isNotice = (message: Message): boolean => textOf(message).endsWith("[End of the notices.]")

export function tellFrom(messages: readonly Message[]): ReturnType<typeof tellStory> {
  const index = messages.findLastIndex((message) => message.role === "user" && !isNotice(message))
  const asked = messages[index]
  const step = messages.slice(index).filter((message) => callsOf(message).length > 0).length
  return tellStory(asked ? textOf(asked) : "", step)
}
