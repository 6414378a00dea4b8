import { chmod, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { z } from "zod"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../base/error.ts"
import { systemCodeOf } from "../base/system-error.ts"
import { makeFolder } from "./make-folder.ts"

/** A file in the person's home that says what the person has agreed to. */
export interface PersonFile<Schema extends z.ZodType> {
  readonly path: string
  readonly schema: Schema
  /** Names the file in a refusal: "The list of trusted folders". */
  readonly subject: string
}

const WRITABLE_BY_OTHERS = 0o022

/** Undefined if there is none. A file that others could have written, or that cannot be understood, is refused and stays. */
export async function readPersonFile<Schema extends z.ZodType>(
  file: PersonFile<Schema>,
): Promise<z.output<Schema> | undefined> {
  const { path, schema, subject } = file
  try {
    const { mode } = await stat(path)
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      const message = `${path} can be written by others, so nothing in it is believed. Look at it, then run: chmod 600 ${path}`
      throw new MeanwhileError("permission_denied", message)
    }
    return schema.parse(JSON.parse(await readFile(path, "utf8")))
  } catch (error) {
    if (isMeanwhileError(error)) throw error
    if (systemCodeOf(error) === "ENOENT") return undefined
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : toErrorMessage(error)
    const message = `${subject}, ${path}, cannot be read: ${reason}. Repair or remove it.`
    throw new MeanwhileError("invalid_input", message, {}, { cause: error })
  }
}

/** Writes the whole file or nothing: a draft beside it is renamed. */
export async function writePersonFile<Schema extends z.ZodType>(
  { path, subject }: PersonFile<Schema>,
  content: z.output<Schema>,
): Promise<void> {
  try {
    await replaceFile(path, `${JSON.stringify(content, null, 2)}\n`)
  } catch (error) {
    const message = `${subject}, ${path}, cannot be written: ${toErrorMessage(error)}. Is HOME a folder of yours?`
    throw new MeanwhileError("permission_denied", message, {}, { cause: error })
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  makeFolder(dirname(path))
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" })
    await chmod(draft, 0o600)
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
