import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"
import { type Clock, systemClock } from "../../base/clock.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type {
  ConnectedModel,
  ModelRequest,
  ModelTool,
  ProviderOptions,
  ProviderResponse,
  ToolChoice,
} from "../../plugin/model.ts"
import { createAnswer } from "./answer.ts"
import { MeanwhileError } from "../../base/error.ts"
import { dialectOf } from "./dialect.ts"
import { createIdleLimit, hearAnswers } from "./idle-limit.ts"
import { describeModel, type LanguageModel, toLanguageModel } from "./language-model.ts"
import { toModelError, toStall } from "./model-error.ts"
import { createPromptWriter } from "./prompt.ts"
import { isStrict, toResponseFormat } from "./response-format.ts"
import { createScrubber } from "./scrub.ts"
import { createToolNames, type ToolNames } from "./tool-name.ts"

export interface ConnectionOptions {
  /** Values that must not be in any error. */
  readonly secrets?: readonly string[]
  /** A provider that sends nothing for so long is given up. Default: 60 seconds. */
  readonly idleTimeoutMs?: number
  /** The clock for that. Default: the system's. */
  readonly clock?: Clock
}

const IDLE_TIMEOUT_MS = 60_000

/** Any language model of the AI SDK (6 or 7) as one of ours. `id` is `provider/name`. Any other value is refused. */
export function toConnectedModel(
  id: string,
  given: LanguageModel,
  { secrets = [], idleTimeoutMs = IDLE_TIMEOUT_MS, clock = systemClock }: ConnectionOptions = {},
): ConnectedModel {
  const model = requireLanguageModel(id, given)
  const dialect = dialectOf(model.provider)
  const writePrompt = createPromptWriter(dialect)
  const context = { id, scrub: createScrubber(secrets) }
  const tools = new WeakMap<ModelTool, LanguageModelV4FunctionTool>()

  function toTool(tool: ModelTool, name: string): LanguageModelV4FunctionTool {
    let known = tools.get(tool)
    const { description, inputSchema } = tool
    if (known?.name !== name) tools.set(tool, (known = { type: "function", name, description, inputSchema }))
    return known
  }

  async function open(request: ModelRequest, names: ToolNames): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const { signal, maxOutputTokens, temperature, toolChoice } = request
    const { output } = request
    const isLoose = output !== undefined && dialect.strictFor !== undefined && !isStrict(output.schema)
    const always = isLoose
      ? joinOptions(dialect.options, { [dialect.strictFor]: { strictJsonSchema: false } })
      : dialect.options
    const providerOptions = joinOptions(always, request.providerOptions)
    const opening = Promise.resolve(
      model.doStream({
        prompt: writePrompt(request),
        abortSignal: signal,
        // A provider that thinks for long without a word sends signs of life, which only raw chunks show.
        includeRawChunks: true,
        ...(request.tools.length > 0 && {
          tools: request.tools.map((tool) => toTool(tool, names.toWire(tool.name))),
          ...(toolChoice && { toolChoice: toWireChoice(toolChoice, names) }),
        }),
        ...(output && { responseFormat: toResponseFormat(output.schema) }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...(temperature !== undefined && { temperature }),
        ...(providerOptions && { providerOptions }),
      }),
    )
    return untilAborted(opening, signal)
  }

  async function ask(request: ModelRequest, onHeard: () => void): Promise<ProviderResponse> {
    const { signal } = request
    const answer = createAnswer(dialect.origin, request)
    const names = createToolNames(request.tools)
    const toError = (error: unknown) => {
      signal.throwIfAborted()
      return toModelError(error, context)
    }
    const take = (part: LanguageModelV4StreamPart) => {
      onHeard()
      if (part.type === "error") throw toError(part.error)
      answer.add(part.type === "tool-call" ? { ...part, toolName: names.fromWire(part.toolName) } : part)
    }
    const stream = await open(request, names).catch((error: unknown) => Promise.reject(toError(error)))
    await readParts(stream, signal, take, toError)
    const response = answer.toResponse()
    if (!response) throw toModelError(new Error("the answer ended before it was complete"), context)
    return response
  }

  return {
    id,
    hasJsonMode: dialect.hasJsonMode,
    async generate(request) {
      request.signal.throwIfAborted()
      const limit = createIdleLimit({ clock, timeoutMs: idleTimeoutMs, toError: () => toStall(id, idleTimeoutMs) })
      try {
        const signal = AbortSignal.any([request.signal, limit.signal])
        hearAnswers(signal, limit.heard)
        return await ask({ ...request, signal }, limit.heard)
      } finally {
        limit.close()
      }
    },
  }
}

function toWireChoice(choice: ToolChoice, names: ToolNames): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: names.toWire(choice.tool) }
}

/** The caller's options go before those that are always sent. */
function joinOptions(
  always: SharedV4ProviderOptions | undefined,
  asked: ProviderOptions | undefined,
): SharedV4ProviderOptions | undefined {
  if (!asked) return always
  const names = new Set([...Object.keys(always ?? {}), ...Object.keys(asked)])
  const joined = [...names].map((name) => [name, { ...always?.[name], ...asked[name] }] as const)
  return Object.fromEntries(joined)
}

function requireLanguageModel(id: string, value: unknown): LanguageModelV4 {
  const model = toLanguageModel(value)
  if (model) return model
  const advice = "Give one that an @ai-sdk package of AI SDK 6 or 7 makes (LanguageModelV3 or LanguageModelV4)."
  throw new MeanwhileError("invalid_input", `The model ${id} is ${describeModel(value)}. ${advice}`, { model: id })
}

/**
 * Hands over every part in order. Contract: an abort ends it at once with the signal's reason, whatever the stream
 * does; nothing is read any more once it has ended.
 */
async function readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  take: (part: LanguageModelV4StreamPart) => void,
  toError: (error: unknown) => Error,
): Promise<void> {
  const reader = stream.getReader()
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  let isReading = true
  try {
    for (;;) {
      isReading = true
      const next = await reader.read()
      isReading = false
      if (next.done) break
      take(next.value)
    }
    signal.throwIfAborted()
  } catch (error) {
    stop()
    throw isReading ? toError(error) : error
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

/** Parts that arrive after the abort are dropped. */
async function untilAborted(
  opening: Promise<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  try {
    return (await unlessAborted(signal, opening)).stream
  } catch (error) {
    void opening.then(({ stream }) => stream.cancel()).catch(() => undefined)
    throw error
  }
}
