import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"
import { compact } from "../../base/compact.ts"
import { isJsonObject } from "../../base/json.ts"
import type { ContentPart, FilePart, Message, TextPart, ToolResult } from "../../plugin/message.ts"
import type { ModelRequest } from "../../plugin/model.ts"
import { toLegalCallId } from "./call-id.ts"
import { type Dialect, findOwnMetadata } from "./dialect.ts"
import { toLegalToolName } from "./tool-name.ts"
import { Buffer } from "node:buffer"
import { MeanwhileError } from "../../base/error.ts"

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"]
type InputPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/** A message as the provider gets it, and the files that must follow after all results. */
interface Written {
  readonly message: LanguageModelV4Message | undefined
  readonly filesAfterResults: InputPart[]
}

const NO_FILES: InputPart[] = []

/** Each message is converted once: the whole history comes with every call, and messages never change. */
export function createPromptWriter(
  dialect: Dialect,
): (request: Pick<ModelRequest, "system" | "messages">) => LanguageModelV4Prompt {
  const known = new WeakMap<Message, Written>()
  return ({ system, messages }) => {
    const prompt: LanguageModelV4Prompt = system === "" ? [] : [{ role: "system", content: system }]
    let files = NO_FILES
    for (const message of messages) {
      let written = known.get(message)
      if (!written) known.set(message, (written = write(message, dialect)))
      if (files.length > 0 && message.role !== "tool") {
        prompt.push({ role: "user", content: files })
        files = NO_FILES
      }
      if (written.message) prompt.push(written.message)
      if (written.filesAfterResults.length > 0) files = [...files, ...written.filesAfterResults]
    }
    if (files.length > 0) prompt.push({ role: "user", content: files })
    return prompt
  }
}

/** Providers refuse messages without content: such a message is left out. */
function write(message: Message, dialect: Dialect): Written {
  const written = toPromptMessage(message, dialect)
  const hasFiles = message.role === "tool" && !dialect.takesFilesInResults
  return {
    message: written.content.length > 0 ? written : undefined,
    filesAfterResults: hasFiles ? message.parts.flatMap(toFilesAfterResults) : NO_FILES,
  }
}

function toPromptMessage({ role, parts }: Message, dialect: Dialect): LanguageModelV4Message {
  switch (role) {
    case "user":
      return { role, content: compact(parts.flatMap(toInputPart)) }
    case "assistant":
      return { role, content: compact(parts.flatMap((part) => toAnswerPart(part, dialect))) }
    case "tool":
      return { role, content: parts.map((result) => toResultPart(result, dialect)) }
  }
}

function toInputPart(part: ContentPart): InputPart[] {
  if (part.type === "file") return [toPromptFile(part)]
  return part.text.trim() === "" ? [] : [{ type: "text", text: toWhole(part.text) }]
}

function toAnswerPart(
  part: Extract<Message, { role: "assistant" }>["parts"][number],
  dialect: Dialect,
): Content<"assistant"> {
  const own = findOwnMetadata(dialect, part.metadata)
  // Metadata that a provider attached is returned to it unchanged.
  const options = own && { providerOptions: part.metadata as SharedV4ProviderOptions }
  switch (part.type) {
    case "file":
      if (!dialect.takesFilesInAnswers) return [{ type: "text", text: nameFile(part) }]
      return [{ ...toPromptFile(part), ...options }]
    case "text":
      return part.text.trim() === "" && !own ? [] : [{ type: "text", text: toWhole(part.text), ...options }]
    case "reasoning":
      return own && dialect.takesReasoning(own) ? [{ type: "reasoning", text: part.text, ...options }] : []
    case "call":
      return [
        {
          type: "tool-call",
          toolCallId: toLegalCallId(part.id, dialect),
          toolName: toLegalToolName(part.tool),
          // Every API takes objects only.
          input: isJsonObject(part.input) ? part.input : { invalid_input: part.input },
          ...options,
        },
      ]
  }
}

function toResultPart(result: ToolResult, dialect: Dialect): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: toLegalCallId(result.callId, dialect),
    toolName: toLegalToolName(result.tool),
    output: toOutput(result, dialect),
  }
}

function toOutput({ isError, content }: ToolResult, dialect: Dialect): LanguageModelV4ToolResultPart["output"] {
  const hasFiles = content.some((part) => part.type === "file")
  if (!hasFiles || !dialect.takesFilesInResults) {
    const value = content.map((part) => (part.type === "file" ? nameFile(part) : part.text)).join("\n")
    return { type: isError ? "error-text" : "text", value: value === "" ? "(no output)" : toWhole(value) }
  }
  const failure: readonly TextPart[] = isError ? [{ type: "text", text: "The tool failed." }] : []
  return { type: "content", value: [...failure, ...content].flatMap(toInputPart) }
}

function toFilesAfterResults({ tool, callId, content }: ToolResult): InputPart[] {
  const files = content.filter((part): part is FilePart => part.type === "file")
  if (files.length === 0) return NO_FILES
  return [{ type: "text", text: `Files that the call ${callId} of ${tool} returned:` }, ...files.map(toPromptFile)]
}

/** Replaces half of a character, which a cut can leave: APIs would refuse this request and every later one. */
function toWhole(text: string): string {
  return text.toWellFormed()
}

const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|toml)\b)/

/** Text files go as text, since most providers take no others than images and PDF. */
function toPromptFile({ mediaType, name, source }: FilePart): InputPart {
  const file = { type: "file", mediaType, ...(name && { filename: name }) } as const
  if ("url" in source) return { ...file, data: { type: "url", url: toUrl(source.url) } }
  if (!TEXT_TYPES.test(mediaType)) return { ...file, data: { type: "data", data: source.data } }
  const text = Buffer.from(source.data, "base64").toString("utf8")
  return { type: "text", text: `File ${name ?? "without a name"} (${mediaType}):\n${text}` }
}

function nameFile({ mediaType, name }: FilePart): string {
  return name ? `[file ${name}, ${mediaType}]` : `[file, ${mediaType}]`
}

function toUrl(text: string): URL {
  const url = URL.parse(text)
  if (url) return url
  throw new MeanwhileError("invalid_input", `A file's url is not a URL: "${text.slice(0, 100)}". Give a full one.`)
}
