import { shortenMiddle } from "../../base/shorten.ts"
import type { ContentPart, FilePart, Message, ToolResult } from "../../plugin/message.ts"

const TAIL_SHARE = 0.4

/** Head and tail with a note between them, at most `mostCharacters` in all. */
export function shortenText(text: string, mostCharacters: number): string {
  const note = `\n[${text.length.toLocaleString("en-US")} characters were shortened here to make room.]\n`
  return shortenMiddle(text, mostCharacters, () => note, TAIL_SHARE)
}

export interface Shortening {
  /** Length limit of one result, or of one user message. */
  readonly mostCharacters: number
  readonly keepsFiles: boolean
}

/** Results shortened in place: each still answers its call. Other messages come back as they are. */
export function shortenResults(message: Message, shortening: Shortening): Message {
  if (message.role !== "tool") return message
  const parts = message.parts.map((result): ToolResult => {
    const content = shortenContent(result.content, shortening)
    return content === result.content ? result : { ...result, content }
  })
  return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts }
}

export function shortenOpening(message: Message, shortening: Shortening): Message {
  if (message.role !== "user") return message
  const parts = shortenContent(message.parts, shortening)
  return parts === message.parts ? message : { ...message, parts }
}

/** The same list when there is nothing to shorten. What was shortened to a length once is not shortened to it again. */
function shortenContent(
  content: readonly ContentPart[],
  { mostCharacters, keepsFiles }: Shortening,
): readonly ContentPart[] {
  const files = content.filter((part) => part.type === "file")
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("")
  if (text.length <= mostCharacters && (keepsFiles || files.length === 0)) return content
  if (keepsFiles) return [{ type: "text", text: shortenText(text, mostCharacters) }, ...files]
  const notes = toFileNotes(files)
  return [{ type: "text", text: `${shortenText(text, mostCharacters - notes.length)}${notes}` }]
}

const MOST_NOTES = 2

function toFileNotes(files: readonly FilePart[]): string {
  const notes = files.slice(0, MOST_NOTES).map((file) => `\n[${toFileName(file)} was removed to make room.]`)
  const left = files.length - notes.length
  return `${notes.join("")}${left > 0 ? `\n[${left} more files were removed to make room.]` : ""}`
}

const LONGEST_NAME = 80

export function toFileName({ name, mediaType }: FilePart): string {
  const type = mediaType.slice(0, LONGEST_NAME)
  return name === undefined ? `A file (${type})` : `The file ${name.slice(0, LONGEST_NAME)} (${type})`
}
