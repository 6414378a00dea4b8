import { readdir } from "node:fs/promises"
import { z } from "zod"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import { readInside } from "./bounded-file.ts"
import { splitFrontMatter, splitNames } from "../../base/front-matter.ts"
import { unlessMissing } from "../../base/system-error.ts"
import { type Reference, referenceSchema } from "./reference.ts"

export interface FoundReferences {
  readonly references: readonly Reference[]
  /** A line for each file or entry that cannot be used, with the reason. */
  readonly problems: readonly string[]
}

const LIST_FILE = "references.json"
const LARGEST_FILE_BYTES = 1024 * 1024
const MOST_FILES = 500

const listSchema = lazily(() =>
  z.array(z.unknown()).or(z.object({ references: z.array(z.unknown()) }).transform((list) => list.references)),
)

/** The references of a folder: `references.json` and each `*.md`. A folder that does not exist has none. */
export async function readReferenceFolder(folder: string): Promise<FoundReferences> {
  const files = await listFiles(folder)
  const found = await Promise.all(
    files.map(async (file): Promise<FoundReferences> => {
      try {
        const { text, isCut } = await readInside(folder, file, LARGEST_FILE_BYTES)
        if (isCut) throw new MeanwhileError("invalid_input", "it is over 1 MiB: refer to it by path instead")
        return file === LIST_FILE ? parseList(text) : { references: [parseMarkdown(file, text)], problems: [] }
      } catch (error) {
        return { references: [], problems: [`${file}: ${toReason(error)}`] }
      }
    }),
  )
  return { references: found.flatMap((each) => each.references), problems: found.flatMap((each) => each.problems) }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const files = (await unlessMissing(readdir(folder))) ?? []
  const pages = files.filter((file) => file.endsWith(".md")).toSorted()
  return [...files.filter((file) => file === LIST_FILE), ...pages].slice(0, MOST_FILES)
}

function parseList(text: string): FoundReferences {
  const parsed = listSchema()
    .parse(JSON.parse(text))
    .map((entry) => referenceSchema().safeParse(entry))
  return {
    references: parsed.flatMap(({ data }) => data ?? []),
    problems: parsed.flatMap(({ error }, index) =>
      error ? [`${LIST_FILE}: entry ${index + 1}: ${toReason(error)}`] : [],
    ),
  }
}

/** The page itself is the content, unless its front matter names a path or an address. */
function parseMarkdown(file: string, text: string): Reference {
  const { fields, body, isUnclosed } = splitFrontMatter(text)
  if (isUnclosed)
    throw new MeanwhileError("invalid_input", "its front matter is not closed; end it with a line of `---`")
  const id = fields.get("id") ?? file.slice(0, -".md".length)
  const heading = /^#+[ \t]+(.+)$/m.exec(body)?.[1]
  const path = fields.get("path")
  const url = fields.get("url")
  return referenceSchema().parse({
    id,
    name: fields.get("name") || heading || id,
    description: fields.get("description") ?? "",
    tags: splitNames(fields.get("tags") ?? ""),
    ...(path === undefined && url === undefined ? { text: body.trim() } : { path, url }),
  })
}

function toReason(error: unknown): string {
  if (!(error instanceof z.ZodError)) return toErrorMessage(error)
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ")
}
