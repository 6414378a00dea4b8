import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { isAbsolute, join, relative, sep } from "node:path"
import { systemCodeOf } from "../base/system-error.ts"
import type { FolderTrust, TrustStore } from "../config/trust-store.ts"
import type { FolderContents } from "../config/folder-contents.ts"
import {
  describeDistrust,
  type FolderOptions,
  needsTrust,
  openTrustStore,
  type ProgramFolder,
  toVisible,
} from "./folder.ts"

/** The names that people give to what every agent of a folder should know. */
export const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md"] as const

const MOST_BYTES = 64 * 1024

/** A file of a folder that speaks to every agent there. */
export type InstructionFile =
  /** `trust` is about this file alone, as it is now. */
  | {
      readonly name: string
      readonly trust: Exclude<FolderTrust, "empty">
      readonly contents: FolderContents
      readonly text: string
    }
  /** Why it cannot be read. */
  | { readonly name: string; readonly problem: string }

type ReadFile = Extract<InstructionFile, { trust: unknown }>

/** What agents are told, and the names of the files that say it. */
export interface Instructions {
  readonly names: readonly string[]
  readonly text: string
}

/** Reads the files and the trust in each, and changes nothing. Of two files with the same text the first counts. */
export async function lookAtInstructions(
  { contents: { directory } }: ProgramFolder,
  names: readonly string[],
  trustStore: TrustStore,
): Promise<readonly InstructionFile[]> {
  const files: InstructionFile[] = []
  for (const name of names) {
    const file = await readInstructions(directory, name, trustStore)
    if (file && !files.some((other) => isSameText(file, other))) files.push(file)
  }
  return files
}

const isSameText = (file: InstructionFile, other: InstructionFile): boolean =>
  "text" in file && "text" in other && file.text === other.text

/** Asks about files that are new or have changed, unless the person has just said no to the whole folder. */
export async function openInstructions(
  options: FolderOptions,
  folder: ProgramFolder,
  names: readonly string[],
): Promise<Instructions> {
  const { trustStore = openTrustStore(options.homeDirectory), notify } = options
  const found = await lookAtInstructions(folder, names, trustStore)
  const asked = found.filter(isUntrusted)
  const isAgreed = asked.length > 0 && (options.trust || (await askAbout(asked, options, folder)))
  if (isAgreed) for (const { contents } of asked) await trustStore.trust(contents)
  // Exactly what was shown is trusted: a change meanwhile undoes it.
  const files = isAgreed ? await lookAtInstructions(folder, names, trustStore) : found
  for (const file of files) {
    if ("problem" in file) notify(`${toVisible(file.name)} is not read: ${file.problem}`)
  }
  const unread = files.filter(isUntrusted)
  if (unread.length > 0) notify(describeUnread(unread))
  const read = files.filter(isTrusted)
  return { names: read.map(({ name }) => name), text: read.map(toInstructions).join("\n\n") }
}

const isTrusted = (file: InstructionFile): file is ReadFile => "trust" in file && file.trust === "trusted"
const isUntrusted = (file: InstructionFile): file is ReadFile => "trust" in file && file.trust !== "trusted"

async function askAbout(
  files: readonly ReadFile[],
  { confirmTrust }: FolderOptions,
  folder: ProgramFolder,
): Promise<boolean> {
  if (!confirmTrust || needsTrust(folder)) return false
  const { directory } = folder.contents
  const lines = files.map(
    ({ name, trust }) => `  ${toVisible(name)}${trust === "changed" ? ", which has changed" : ""}`,
  )
  const intro = `${toVisible(directory)} has instructions for agents, which speak to them in your name:`
  return confirmTrust({
    directory,
    files: files.map(({ name }) => name),
    isChanged: files.every(({ trust }) => trust === "changed"),
    text: [intro, ...lines, "Shall agents read them as they are now?"].join("\n"),
  })
}

function describeUnread(files: readonly ReadFile[]): string {
  const whys = files.map(({ name, trust }) => `${toVisible(name)}, because ${describeDistrust(trust)}`)
  return `Agents do not read ${whys.join(", nor ")}. \`meanwhile trust\` and --trust change that.`
}

function toInstructions({ name, text }: ReadFile): string {
  return `[Instructions for work in this folder, from its file ${name}:]\n${text.trim()}\n[End of ${name}.]`
}

/** Undefined if there is no such file, or an empty one. */
async function readInstructions(
  directory: string,
  name: string,
  trustStore: TrustStore,
): Promise<InstructionFile | undefined> {
  const path = join(directory, name)
  try {
    const way = relative(directory, await realpath(path))
    if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way))
      return { name, problem: "it is a link that leads out of its folder." }
    const bytes = await readAtMost(path, MOST_BYTES)
    if (typeof bytes === "string") return { name, problem: bytes }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    if (text.trim() === "") return undefined
    const contents = { directory: path, files: [name], sha256: createHash("sha256").update(bytes).digest("hex") }
    const trust = await trustStore.look(contents)
    return { name, trust: trust === "empty" ? "untrusted" : trust, contents, text }
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    if (error instanceof TypeError) return { name, problem: "it is not text in UTF-8." }
    if (code === "EACCES" || code === "ELOOP") return { name, problem: "it cannot be opened." }
    throw error
  }
}

/** The content, or why there is none. A pipe is opened without waiting for its writer, and not read. */
async function readAtMost(path: string, mostBytes: number): Promise<Uint8Array | string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = await file.stat()
  if (!stats.isFile()) return "it is no file."
  const kibibytes = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`
  if (stats.size > mostBytes)
    return `it has ${kibibytes(stats.size)}, and agents read at most ${kibibytes(mostBytes)}. Shorten it, or move parts into files that it names.`
  const buffer = new Uint8Array(mostBytes)
  const { bytesRead } = await file.read(buffer, 0, mostBytes, 0)
  return buffer.subarray(0, bytesRead)
}
