import { callsOf, type Message } from "../../plugin/message.ts"
import type { ConnectedModel, ModelRequest, ModelTool } from "../../plugin/model.ts"
import type { OutputForm } from "../../plugin/output-schema.ts"

type Answer = Extract<Message, { role: "assistant" }>
type Asked = Pick<ModelRequest, "tools" | "toolChoice" | "output">

/** A turn whose last answer must have a form. Where the model has no mode for that, it gives the answer by a tool. */
export interface TypedOutput<Output = unknown> {
  readonly form: OutputForm<Output>
  /** Asks for the form, beside the tools that are offered anyway. */
  toAsked(model: ConnectedModel, asked: Omit<Asked, "output">): Asked
  /** The model's answer, where the call that gives it has become its text. */
  toAnswer(message: Answer): Answer
}

const DESCRIPTION =
  "Gives your answer. Call it once, when you have done what you were asked to: nothing else that you write is read."

export function createTypedOutput<Output>(form: OutputForm<Output>): TypedOutput<Output> {
  const tools = new Map<string, ModelTool>()

  /** The same object every time, so that it is converted once. */
  function toTool(name: string): ModelTool {
    let tool = tools.get(name)
    if (!tool) tools.set(name, (tool = { name, description: DESCRIPTION, inputSchema: form.schema }))
    return tool
  }

  return {
    form,
    toAsked(model, { tools: offered, toolChoice }) {
      if (model.hasJsonMode)
        return { tools: offered, output: { schema: form.schema }, ...(toolChoice && { toolChoice }) }
      const name = toFreeName(offered)
      const isForced = typeof toolChoice === "object"
      const choice = isForced ? toolChoice : offered.length === 0 || toolChoice === "none" ? { tool: name } : "required"
      return { tools: [...offered, toTool(name)], toolChoice: choice }
    },
    toAnswer(message) {
      const given = callsOf(message).find(({ tool }) => tools.has(tool))
      if (!given) return message
      const isElse = (part: Answer["parts"][number]): boolean => part.type !== "call" || !tools.has(part.tool)
      const others = message.parts.filter(isElse)
      // The model still wants something else: its answer came too early.
      if (others.some(({ type }) => type === "call")) return { role: "assistant", parts: others }
      const text = typeof given.input === "string" ? given.input : JSON.stringify(given.input)
      return { role: "assistant", parts: [{ type: "text", text }] }
    },
  }
}

const ANSWER_TOOL = "give_answer"

/** A name that none of the offered tools has. */
function toFreeName(offered: readonly ModelTool[]): string {
  let name = ANSWER_TOOL
  while (offered.some((tool) => tool.name === name)) name += "_"
  return name
}
