import { constants } from "node:fs"
import { open, readdir, realpath } from "node:fs/promises"
import { dirname, join } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { splitFrontMatter } from "../../base/front-matter.ts"
import { toOneLine } from "../../base/one-line.ts"
import { unlessMissing } from "../../base/system-error.ts"

/** A command as its file has it. */
export interface CommandFile {
  readonly name: string
  readonly description: string
  /** Arguments to type after the name, for example `<file>`. May be empty. */
  readonly argumentHint: string
  readonly template: string
}

/** The form of a user command's name. It allows neither a separator nor a dot, so no name leads out of the folder. */
export const COMMAND_NAME = /^[a-z][a-z0-9_-]{0,63}$/
const FILE_ENDING = ".md"
const LARGEST_FILE_BYTES = 128 * 1024
const LONGEST_DESCRIPTION = 200

/** Undefined when the folder has no such command. */
export async function readCommand(folder: string, name: string): Promise<CommandFile | undefined> {
  const text = await readText(folder, name)
  if (text === undefined) return undefined
  const { fields, body, isUnclosed } = splitFrontMatter(text)
  if (isUnclosed) throw toUnusable(name, "has front matter that is not closed. End it with a line of `---`")
  if (body.trim() === "") throw toUnusable(name, "has no text. Write the prompt into it")
  const firstLine =
    body
      .trim()
      .split("\n", 1)[0]
      ?.replace(/^#+\s*/, "") ?? ""
  return {
    name,
    description: toLine(fields.get("description") || firstLine || name),
    argumentHint: toLine(fields.get("argument-hint") ?? ""),
    template: body,
  }
}

/** The names of a folder's commands. A folder that does not exist has none. */
export async function listCommandNames(folder: string): Promise<readonly string[]> {
  const files = (await unlessMissing(readdir(folder))) ?? []
  return files
    .filter((file) => file.endsWith(FILE_ENDING))
    .map((file) => file.slice(0, -FILE_ENDING.length))
    .filter((name) => COMMAND_NAME.test(name))
    .toSorted()
}

async function readText(folder: string, name: string): Promise<string | undefined> {
  const path = await unlessMissing(realpath(join(folder, `${name}${FILE_ENDING}`)))
  if (path === undefined) return undefined
  if (dirname(path) !== (await realpath(folder))) {
    throw toUnusable(name, "is a link that leads out of its folder. Copy the file instead")
  }
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stats = await handle.stat()
  if (!stats.isFile() || stats.size > LARGEST_FILE_BYTES) {
    throw toUnusable(name, `is no text file of at most ${LARGEST_FILE_BYTES} bytes. Make it one`)
  }
  return await handle.readFile("utf8")
}

function toLine(text: string): string {
  return toOneLine(text).slice(0, LONGEST_DESCRIPTION)
}

function toUnusable(name: string, problem: string): MeanwhileError {
  return new MeanwhileError("invalid_input", `The command file ${name}${FILE_ENDING} ${problem}.`, { command: name })
}
