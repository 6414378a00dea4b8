import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { z } from "zod"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../base/error.ts"
import type { ConfigFile } from "./config-file.ts"
import { hashOf } from "./content-hash.ts"

/**
 * What the person has trusted, by path and content: a file that changed is a file nobody has trusted. The hash covers the
 * configuration file alone, not what its code goes on to import.
 */
export interface TrustStore {
  isTrusted(file: ConfigFile): Promise<boolean>
  trust(file: ConfigFile): Promise<void>
  /** False when it was not trusted. */
  distrust(path: string): Promise<boolean>
}

const trustSchema = z.strictObject({
  version: z.literal(1),
  files: z.record(z.string(), z.strictObject({ sha256: z.string(), trustedAt: z.iso.datetime() })),
})
type Trust = z.output<typeof trustSchema>

const NOTHING: Trust = { version: 1, files: {} }
const WRITABLE_BY_OTHERS = 0o022

export const defaultTrustPath = (): string => join(homedir(), ".meanwhile", "trusted.json")

export function createTrustStore({ path = defaultTrustPath() }: { readonly path?: string } = {}): TrustStore {
  return {
    async isTrusted(file) {
      const { files } = await read(path)
      return Object.hasOwn(files, file.path) && files[file.path]?.sha256 === hashOf(file.content)
    },
    async trust(file) {
      const { files } = await read(path)
      const entry = { sha256: hashOf(file.content), trustedAt: new Date().toISOString() }
      await write(path, { version: 1, files: { ...files, [file.path]: entry } })
    },
    async distrust(filePath) {
      const { files } = await read(path)
      if (!Object.hasOwn(files, filePath)) return false
      const { [filePath]: _, ...others } = files
      await write(path, { version: 1, files: others })
      return true
    },
  }
}

/** A list that others could have written, or that cannot be understood, is refused and left as it is. */
async function read(path: string): Promise<Trust> {
  try {
    const { mode } = await stat(path)
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      throw new MeanwhileError(
        "permission_denied",
        `${path} can be written by others, so nothing in it is believed. Look at it, then run: chmod 600 ${path}`,
      )
    }
    return trustSchema.parse(JSON.parse(await readFile(path, "utf8")))
  } catch (error) {
    if (isMeanwhileError(error)) throw error
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return NOTHING
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : toErrorMessage(error)
    throw new MeanwhileError(
      "invalid_input",
      `The list of trusted folders, ${path}, cannot be read: ${reason}. Repair or remove it.`,
      {},
      { cause: error },
    )
  }
}

/** Whole or not at all: written beside, then moved over. */
async function write(path: string, trust: Trust): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
  try {
    await writeFile(draft, `${JSON.stringify(trust, null, 2)}\n`, { mode: 0o600, flag: "wx" })
    await chmod(draft, 0o600)
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
