import type { LanguageModelV4, LanguageModelV4FunctionTool, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { ConnectedModel, ModelRequest, ModelTool, ProviderResponse } from "../../plugin/model.ts"
import { createAnswer } from "./answer.ts"
import { dialectOf } from "./dialect.ts"
import { toModelError, toUnfinishedError } from "./model-error.ts"
import { createPromptWriter } from "./prompt.ts"
import { readParts, untilAborted } from "./read-parts.ts"
import { createScrubber } from "./scrub.ts"
import { createToolNames, type ToolNames } from "./tool-name.ts"

export interface ConnectionOptions {
  /** Values that must not be in any error. */
  readonly secrets?: readonly string[]
}

/** Any language model of the AI SDK as one of ours. `id` is `provider/name`. */
export function toConnectedModel(
  id: string,
  model: LanguageModelV4,
  { secrets = [] }: ConnectionOptions = {},
): ConnectedModel {
  const dialect = dialectOf(model.provider)
  const writePrompt = createPromptWriter(dialect)
  const context = { id, scrub: createScrubber(secrets) }
  const tools = new WeakMap<ModelTool, LanguageModelV4FunctionTool>()

  function toTool(tool: ModelTool, name: string): LanguageModelV4FunctionTool {
    let known = tools.get(tool)
    if (known?.name !== name) tools.set(tool, (known = toFunctionTool(tool, name)))
    return known
  }

  async function open(request: ModelRequest, names: ToolNames): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const { signal, maxOutputTokens, temperature } = request
    const prompt = writePrompt(request)
    const opening = Promise.resolve(
      model.doStream({
        prompt,
        abortSignal: signal,
        ...(request.tools.length > 0 && {
          tools: request.tools.map((tool) => toTool(tool, names.toWire(tool.name))),
        }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...(temperature !== undefined && { temperature }),
        ...(dialect.options && { providerOptions: dialect.options }),
      }),
    )
    return untilAborted(opening, signal)
  }

  return {
    id,
    async generate(request): Promise<ProviderResponse> {
      const { signal } = request
      signal.throwIfAborted()
      const answer = createAnswer(dialect.origin, request)
      const names = createToolNames(request.tools)
      const toError = (error: unknown) => {
        signal.throwIfAborted()
        return toModelError(error, context)
      }
      const take = (part: LanguageModelV4StreamPart) => {
        if (part.type === "error") throw toError(part.error)
        answer.add(part.type === "tool-call" ? { ...part, toolName: names.fromWire(part.toolName) } : part)
      }
      const stream = await open(request, names).catch((error: unknown) => Promise.reject(toError(error)))
      await readParts(stream, signal, take, toError)
      const response = answer.toResponse()
      if (!response) throw toUnfinishedError(context)
      return response
    },
  }
}

function toFunctionTool({ description, inputSchema }: ModelTool, name: string): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema }
}
