import type { EnrichedPrompt, EnrichmentContext } from "../../plugin/prompt-enrichment.ts"
import type { Tool } from "../../plugin/tool.ts"
import { type MediaType, toMediaType } from "./media-type.ts"
import { readHead } from "./rooted-file.ts"

export interface MentionOptions {
  readonly root: string
  readonly viewImage: Pick<Tool, "name">
  /** The tool that reads text. Null: there is none. */
  readonly textTool: string | null
  /** Absent: any model will do. */
  readonly model: EnrichmentContext["model"] | undefined
  /** Names of the offered tools. Absent: both are. */
  readonly tools: readonly string[] | undefined
}

interface MentionedFile extends Pick<MediaType, "mediaType"> {
  readonly name: string
  readonly bytes: number
  readonly tool: string | null
  /** Why no tool reads it, where that is not plain. */
  readonly problem: string | null
}

interface FoundMention {
  readonly start: number
  readonly end: number
  readonly path: string
  readonly file: MentionedFile
}

const HEAD_BYTES = 4096
const NAME_WITH_CONTROLS = /\p{Cc}/u

/**
 * Takes the `@` from every mention of a file inside the root and says what each file is. No file is loaded: the model
 * reads what it needs. A mention that names no file stays as it is.
 */
export async function mentionFiles(prompt: string, options: MentionOptions): Promise<EnrichedPrompt> {
  const found: FoundMention[] = []
  for (const mention of findMentions(prompt)) {
    const known = await resolveMention(mention, options)
    if (known) found.push(known)
  }
  if (found.length === 0) return { prompt }
  const files = [...new Map(found.map(({ file }) => [file.name, file])).values()]
  const lines = files.map(toLine)
  return {
    prompt: `${withoutMarks(prompt, found)}\n\nFiles named above, not loaded yet:\n${lines.join("\n")}`,
    metadata: { files: files.map(({ name, bytes, mediaType, tool }) => ({ path: name, bytes, mediaType, tool })) },
  }
}

async function resolveMention(mention: FileMention, options: MentionOptions): Promise<FoundMention | undefined> {
  for (const { path, end } of mention.candidates) {
    const found = await readHead(options.root, path, HEAD_BYTES)
    if (!found || NAME_WITH_CONTROLS.test(found.name)) continue
    const { name, bytes, head } = found
    const { mediaType, reading } = toMediaType(name, head)
    return { start: mention.start, end, path, file: { mediaType, name, bytes, ...findReader(reading, options) } }
  }
  return undefined
}

/** Text is read by any model that has the tool; a picture only by one that sees. */
function findReader(
  reading: MediaType["reading"],
  { viewImage, textTool, model, tools }: MentionOptions,
): Pick<MentionedFile, "tool" | "problem"> {
  if (reading === "image" && model && !model.modalities.includes("image")) {
    return {
      tool: null,
      problem: `it cannot be shown, because ${model.id} takes no images, by the catalogue of models`,
    }
  }
  const tool = { image: viewImage.name, text: textTool, none: null }[reading]
  return { tool: tool !== null && tools?.includes(tool) !== false ? tool : null, problem: null }
}

function withoutMarks(prompt: string, found: readonly FoundMention[]): string {
  let text = ""
  let at = 0
  for (const { start, end, path } of found) {
    text += `${prompt.slice(at, start)}${/\s/.test(path) ? `"${path}"` : path}`
    at = end
  }
  return text + prompt.slice(at)
}

function toLine({ name, bytes, mediaType, tool, problem }: MentionedFile): string {
  const how = tool === null ? (problem ?? "no tool reads it") : `read it with ${tool}`
  return `- ${JSON.stringify(name)}: ${mediaType}, ${toSize(bytes)}; ${how}`
}

function toSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

/** A place in a prompt that may name a file: `@path` or `@"path with spaces"`. */
interface FileMention {
  /** Index of the `@`. */
  readonly start: number
  /** Longest first: a full stop may end the path or the sentence. */
  readonly candidates: readonly { readonly path: string; readonly end: number }[]
}

/** An `@` after a word is no mention, so that `me@example.com` stays. */
const MENTION = /(?<![\w@.+-])@(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'`@]{1,1000}))/g
const CLOSING = /[.,;:!?)\]}>*_]$/
const MOST_MENTIONS = 50

function findMentions(prompt: string): readonly FileMention[] {
  return [...prompt.matchAll(MENTION)].slice(0, MOST_MENTIONS).map((match) => {
    const quoted = match[1] ?? match[2]
    const end = match.index + match[0].length
    const candidates = quoted === undefined ? toCandidates(match[3] ?? "", end) : [{ path: quoted, end }]
    return { start: match.index, candidates }
  })
}

function toCandidates(text: string, end: number): FileMention["candidates"] {
  const candidates = [{ path: text, end }]
  let path = text
  while (CLOSING.test(path) && candidates.length < 5) {
    path = path.slice(0, -1)
    candidates.push({ path, end: end - (text.length - path.length) })
  }
  return candidates.filter((candidate) => candidate.path !== "")
}
