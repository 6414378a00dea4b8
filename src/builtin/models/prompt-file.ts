import { Buffer } from "node:buffer"
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider"
import { MeanwhileError } from "../../base/error.ts"
import type { FilePart } from "../../plugin/message.ts"

const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|toml)\b)/

/** Text files go as text, since most providers take no others than images and PDF. */
export function toPromptFile({ mediaType, name, source }: FilePart): LanguageModelV4FilePart | LanguageModelV4TextPart {
  if ("url" in source) {
    return { type: "file", mediaType, ...(name && { filename: name }), data: { type: "url", url: toUrl(source.url) } }
  }
  if (TEXT_TYPES.test(mediaType)) {
    const text = Buffer.from(source.data, "base64").toString("utf8")
    return { type: "text", text: `File ${name ?? "without a name"} (${mediaType}):\n${text}` }
  }
  return { type: "file", mediaType, ...(name && { filename: name }), data: { type: "data", data: source.data } }
}

export function nameFile({ mediaType, name }: FilePart): string {
  return name ? `[file ${name}, ${mediaType}]` : `[file, ${mediaType}]`
}

function toUrl(text: string): URL {
  const url = URL.parse(text)
  if (url) return url
  throw new MeanwhileError("invalid_input", `A file's url is not a URL: "${text.slice(0, 100)}". Give a full one.`)
}
