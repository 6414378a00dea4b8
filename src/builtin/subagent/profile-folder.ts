import { constants } from "node:fs"
import { open, readdir, realpath } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { splitFrontMatter, splitNames } from "../../base/front-matter.ts"
import { unlessMissing } from "../../base/system-error.ts"
import { type Profile, profileSchema } from "./profile.ts"

export interface FoundProfiles {
  readonly profiles: readonly Profile[]
  /** A line for each file that cannot be used, with the reason. */
  readonly problems: readonly string[]
}

const FILE_ENDING = ".md"
const LARGEST_FILE_BYTES = 128 * 1024
const MOST_FILES = 200

/** The profiles of a folder, in the order of their file names. A folder that does not exist has none. */
export async function readProfileFolder(folder: string): Promise<FoundProfiles> {
  const profiles: Profile[] = []
  const problems: string[] = []
  for (const file of await listFiles(folder)) {
    try {
      profiles.push(toProfile(file, await readText(folder, file)))
    } catch (error) {
      problems.push(`${join(folder, file)}: ${toReason(error)}`)
    }
  }
  return { profiles, problems }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const files = (await unlessMissing(readdir(folder))) ?? []
  return files
    .filter((file) => file.endsWith(FILE_ENDING))
    .toSorted()
    .slice(0, MOST_FILES)
}

async function readText(folder: string, file: string): Promise<string> {
  const path = await realpath(join(folder, file))
  if (dirname(path) !== (await realpath(folder))) {
    throw new MeanwhileError("permission_denied", "it is a link that leads out of its folder; copy the file instead")
  }
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stats = await handle.stat()
  if (stats.isFile() && stats.size <= LARGEST_FILE_BYTES) return await handle.readFile("utf8")
  throw new MeanwhileError("invalid_input", `it is no text file of at most ${LARGEST_FILE_BYTES} bytes; make it one`)
}

function toProfile(file: string, text: string): Profile {
  const { fields, body, isUnclosed } = splitFrontMatter(text)
  if (isUnclosed)
    throw new MeanwhileError("invalid_input", "its front matter is not closed; end it with a line of `---`")
  const model = fields.get("model")
  const tools = fields.get("tools")
  return profileSchema().parse({
    name: fields.get("name") || file.slice(0, -FILE_ENDING.length),
    description: fields.get("description") || firstLine(body),
    ...(model && { model }),
    ...(tools !== undefined && { tools: toList(tools) }),
    instructions: body.trim(),
  })
}

function firstLine(body: string): string {
  const [line = ""] = body.trim().split("\n", 1)
  return line.replace(/^#+\s*/, "").slice(0, 200)
}

/** `[]` means no tools. A list over several lines would look empty here, and give no tools or all by mistake. */
function toList(text: string): readonly string[] {
  if (text === "") {
    const message = "`tools` is empty; write them in one line, as `tools: a, b`, or `tools: []` for none"
    throw new MeanwhileError("invalid_input", message)
  }
  return splitNames(text)
}

function toReason(error: unknown): string {
  if (!(error instanceof z.ZodError)) return toErrorMessage(error)
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ")
}
