import { homedir } from "node:os"
import { join } from "node:path"
import { type FolderContents, OWN_FOLDER, readFolderContents } from "../config/folder-contents.ts"
import { createTrustStore, type FolderTrust, type TrustStore } from "../config/trust-store.ts"

/** The question a person answers before anything of a folder is loaded. */
export interface TrustQuestion {
  readonly directory: string
  readonly files: readonly string[]
  /** True if the folder was trusted, and its files have changed since. */
  readonly isChanged: boolean
  /** The whole question in words, without control characters. */
  readonly text: string
}

export interface FolderOptions {
  readonly workingDirectory: string
  /** True to trust what lies in the folder, as it is now. */
  readonly trust: boolean
  /** Asked when the folder has something that is not trusted. Default: it is not trusted. */
  readonly confirmTrust?: (question: TrustQuestion) => Promise<boolean>
  /** Default: the person's own. */
  readonly homeDirectory?: string
  readonly trustStore?: TrustStore
  /** Tells a person what they should know and need not act on. */
  readonly notify: (text: string) => void
}

/** The folder a program works in, and whether the person trusts what lies in it. */
export interface ProgramFolder {
  readonly contents: FolderContents
  readonly trust: FolderTrust
  readonly homeDirectory: string
}

const TRUST_FILE = "trust.json"

export function openTrustStore(homeDirectory = homedir()): TrustStore {
  return createTrustStore({ path: join(homeDirectory, OWN_FOLDER, TRUST_FILE) })
}

/** Reads the folder and its trust, and changes nothing. */
export async function lookAtFolder(
  options: Pick<FolderOptions, "workingDirectory" | "homeDirectory" | "trustStore">,
): Promise<ProgramFolder> {
  const { workingDirectory: directory, homeDirectory = homedir(), trustStore = openTrustStore(homeDirectory) } = options
  const contents = await readFolderContents({ directory, homeDirectory })
  return { contents, trust: await trustStore.look(contents), homeDirectory }
}

/** Opens a folder: asks if it must, and remembers a yes. Exactly what was shown is trusted: a change meanwhile undoes it. */
export async function openFolder(options: FolderOptions): Promise<ProgramFolder> {
  const { trustStore = openTrustStore(options.homeDirectory), notify } = options
  const found = await lookAtFolder({ ...options, trustStore })
  const isAgreed = needsTrust(found) && (options.trust || (await options.confirmTrust?.(toQuestion(found))))
  if (isAgreed) await trustStore.trust(found.contents)
  const folder = isAgreed ? await lookAtFolder({ ...options, trustStore }) : found
  if (needsTrust(folder)) notify(describeUntrusted(folder, isAgreed === false))
  return folder
}

/** True if the person has not agreed to what the folder brings along, as it is now. */
export const needsTrust = ({ trust }: ProgramFolder): boolean => trust === "untrusted" || trust === "changed"

function toQuestion({ contents, trust }: ProgramFolder): TrustQuestion {
  const { directory, files } = contents
  const isChanged = trust === "changed"
  const place = toVisible(directory)
  const what = isChanged ? `What you trusted in ${place} has changed. These files` : `${place} brings files that`
  const intro = `${what} can run code and speak to the agent in your name:`
  const text = [intro, ...listed(files), "Do you trust them as they are now?"].join("\n")
  return { directory, files, isChanged, text }
}

/** A person who was asked has just read the list of files: it is not repeated. */
function describeUntrusted({ contents, trust }: ProgramFolder, wasAsked: boolean): string {
  const intro = `Not loaded from ${toVisible(contents.directory)}, because ${describeDistrust(trust)}`
  if (wasAsked) return `${intro}. \`meanwhile trust\` and --trust do that later.`
  const fix = "Read them, then run `meanwhile trust`, or start with --trust."
  return [`${intro}:`, ...listed(contents.files), fix].join("\n")
}

/** Why what lies in a folder is not read. */
export function describeDistrust(trust: FolderTrust): string {
  return trust === "changed" ? "it has changed since you trusted it" : "you have not trusted it"
}

const MOST_LISTED = 20

function listed(files: readonly string[]): readonly string[] {
  const lines = files.slice(0, MOST_LISTED).map((file) => `  ${toVisible(file)}`)
  const more = files.length - lines.length
  return more > 0 ? [...lines, `  and ${more} more`] : lines
}

/** Replaces invisible characters: the names of files are somebody else's text. */
export function toVisible(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{FFFD}")
}
