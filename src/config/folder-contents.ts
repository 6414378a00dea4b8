import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { readdir, realpath, stat } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { MeanwhileError } from "../base/error.ts"
import { systemCodeOf } from "../base/system-error.ts"
import { findConfigFile } from "./config-file.ts"

export const MCP_FILE = ".mcp.json"
/** The folder of Meanwhile's files, below a folder and below the person's home. */
export const OWN_FOLDER = ".meanwhile"
/** Folders in `.meanwhile` whose files speak to an agent in the person's name, or inform it. */
export const PROMPT_FOLDERS = ["commands", "profiles", "references"] as const

/** The files of a folder that would run, or that an agent would believe: trust covers all of these and nothing else. */
export interface FolderContents {
  /** The path with all links followed, so that trust is about what is really there. */
  readonly directory: string
  /** Paths from the directory, in a fixed order. */
  readonly files: readonly string[]
  /** A hash over all names and contents. */
  readonly sha256: string
}

interface FolderRequest {
  readonly directory: string
  /** The `.meanwhile` of this folder is the person's own. */
  readonly homeDirectory: string
}

const MOST_FILES = 2_000

/** Reads the files only to hash them, and runs none. */
export async function readFolderContents(request: FolderRequest): Promise<FolderContents> {
  const directory = await realpath(request.directory).catch((error: unknown) => {
    if (!isMissing(error)) throw error
    throw new MeanwhileError("not_found", `There is no folder ${request.directory}.`)
  })
  const config = await findConfigFile(directory)
  const speaking = (await isHome(directory, request)) ? [] : await listSpeakingFiles(directory)
  const candidates = [...(config ? [config.name] : []), MCP_FILE, ...speaking]
  if (candidates.length > MOST_FILES) throw toTooMany(directory)
  const hash = createHash("sha256")
  const files: string[] = []
  for (const file of candidates) {
    const content = await hashFile(join(directory, file))
    if (content === undefined) continue
    files.push(file)
    hash.update(JSON.stringify([file, content]))
  }
  return { directory, files, sha256: hash.digest("hex") }
}

/** True if the folder is the person's home: its speaking files are the person's own, and count in every other folder too. */
export async function isHome(directory: string, { homeDirectory }: Pick<FolderRequest, "homeDirectory">) {
  const home = await realpath(homeDirectory).catch(() => homeDirectory)
  return (await realpath(directory)) === home
}

async function listSpeakingFiles(directory: string): Promise<readonly string[]> {
  const found = await Promise.all(PROMPT_FOLDERS.map((name) => listFiles(directory, join(directory, OWN_FOLDER, name))))
  return found.flat()
}

/** Files that this user cannot read are left out: they cannot be loaded either. */
async function listFiles(directory: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error) || systemCodeOf(error) === "EACCES") return []
    throw error
  })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted()
}

/** Undefined for anything that is not a plain file: a read of a pipe would never end. */
async function hashFile(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!stats?.isFile()) return undefined
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest("hex")
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR", "ELOOP"].includes(String(error.code))
}

function toTooMany(directory: string): MeanwhileError {
  const folders = PROMPT_FOLDERS.map((name) => `${OWN_FOLDER}/${name}`).join(", ")
  return new MeanwhileError("limit_exceeded", `${directory} has over ${MOST_FILES} files in ${folders}. Remove some.`)
}
