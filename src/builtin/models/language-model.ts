import { Buffer } from "node:buffer"
import type {
  LanguageModelV3,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolResultOutput,
  LanguageModelV4,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider"

/** A language model of the AI SDK, version 6 or 7. */
export type LanguageModel = LanguageModelV3 | LanguageModelV4

/** The model in the version of the interface that Meanwhile calls; undefined for anything else. */
export function toLanguageModel(value: unknown): LanguageModelV4 | undefined {
  if (!isLanguageModel(value)) return undefined
  return value.specificationVersion === "v4" ? value : fromV3(value)
}

/** What a value that is no model is, for the sentence that refuses it. */
export function describeModel(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? "a function" : String(value)
  const version = "specificationVersion" in value ? value.specificationVersion : null
  return typeof version === "string" ? `a model of the specification ${version}` : "an object that is no model"
}

function isLanguageModel(value: unknown): value is LanguageModel {
  if (typeof value !== "object" || value === null) return false
  return (
    "specificationVersion" in value &&
    (value.specificationVersion === "v4" || value.specificationVersion === "v3") &&
    "doStream" in value &&
    typeof value.doStream === "function" &&
    "provider" in value &&
    typeof value.provider === "string"
  )
}

/** Version 3 differs in how it writes files, in prompts and in answers. */
function fromV3(model: LanguageModelV3): LanguageModelV4 {
  const known = new WeakMap<LanguageModelV4Message, LanguageModelV3Message>()
  const toMessage = (message: LanguageModelV4Message): LanguageModelV3Message => {
    let written = known.get(message)
    if (!written) known.set(message, (written = toV3Message(message)))
    return written
  }
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: () => Promise.reject(new Error("Meanwhile streams every answer.")),
    async doStream({ prompt, ...options }) {
      const { stream, ...rest } = await model.doStream({ ...options, prompt: prompt.map(toMessage) })
      const transform = new TransformStream<LanguageModelV3StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(toV4Part(part)),
      })
      return { ...rest, stream: stream.pipeThrough(transform) }
    },
  }
}

function toV3Message(message: LanguageModelV4Message): LanguageModelV3Message {
  const written = message.role === "system" ? message : { ...message, content: message.content.map(toV3Part) }
  // The other parts are the same in both versions.
  return written as LanguageModelV3Message
}

function toV3Part(part: Exclude<LanguageModelV4Message, { role: "system" }>["content"][number]) {
  if (part.type === "file") return { ...part, data: toV3Data(part.data) }
  if (part.type === "tool-result") return { ...part, output: toV3Output(part.output) }
  return part
}

/** Meanwhile writes files as bytes or by their URL alone. */
function toV3Data(data: LanguageModelV4FilePart["data"]) {
  if (data.type === "data") return data.data
  return data.type === "url" ? data.url : ""
}

type V3Content = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"]

function toV3Output(output: LanguageModelV4ToolResultPart["output"]): LanguageModelV3ToolResultOutput {
  if (output.type !== "content") return output
  const value = output.value.flatMap((part): V3Content => {
    if (part.type === "text") return [part]
    if (part.type !== "file") return []
    const { data, mediaType, filename } = part
    if (data.type === "url") return [{ type: "file-url", url: data.url.toString() }]
    const bytes = data.type === "data" ? data.data : ""
    const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("base64")
    return [{ type: "file-data", data: text, mediaType, ...(filename !== undefined && { filename }) }]
  })
  return { type: "content", value }
}

function toV4Part(part: LanguageModelV3StreamPart): LanguageModelV4StreamPart {
  return part.type === "file" ? { ...part, data: { type: "data", data: part.data } } : part
}
