import { readdirSync } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { homedir, userInfo } from "node:os"
import { join } from "node:path"
import { openStoreFile, readDataFolderId, STORE_FILE } from "../app.ts"
import type { Variables } from "../base/environment.ts"
import { toErrorMessage } from "../base/error.ts"
import { systemCodeOf } from "../base/system-error.ts"
import { toVisibleText } from "../base/visible-text.ts"
import { OWN_FOLDER } from "../config/folder-contents.ts"
import { makeDataFolder } from "../config/make-folder.ts"
import {
  createKnownDataFolders,
  type DataFolderIdentity,
  type DataFolderStanding,
  type KnownDataFolders,
} from "../config/known-data-folders.ts"
import { DEFAULT_WORKSPACE } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"

export interface DataFolderOptions {
  readonly dataDirectory: string
  readonly environment: Variables
  /** Default: the person's own. */
  readonly homeDirectory?: string
  /** True to agree to the folder as it is now. */
  readonly trust: boolean
  /** Asks the person the whole question. Default: the answer is no. */
  readonly confirmData?: (question: string) => Promise<boolean>
  readonly notify: (text: string) => void
}

/** `new`: nothing was kept in the folder yet. `foreign`: nobody agreed to it, and it belongs to another user. */
export type DataFolderTrust = DataFolderStanding | "new" | "foreign"

export interface DataFolder {
  /** Null if what is kept in the folder may run; else why not, and what a person can do. */
  readonly refusal: string | null
  /** Remembers the store, once it is there, together with its folder. */
  noteStore(): Promise<void>
}

/** Names, by its id, the data folder that an environment agrees to: a container may not keep the person's home. */
const TRUST_VARIABLE = "MEANWHILE_TRUST_DATA"
const MOST_SESSIONS = 1_000

export function openKnownDataFolders(homeDirectory = homedir()): KnownDataFolders {
  return createKnownDataFolders({ directory: join(homeDirectory, OWN_FOLDER, "data-folders") })
}

/**
 * Opens a data folder for work. One that this person's programs did not make is not trusted unless the person agrees:
 * what is queued in it would run commands and agents in the person's name.
 */
export async function openDataFolder(options: DataFolderOptions): Promise<DataFolder> {
  makeDataFolder(options.dataDirectory)
  const { identity, trust } = await lookAtDataFolder(options)
  const isKnown = trust === "known"
  const isAgreed = isKnown || trust === "new" || options.trust
  if (!isAgreed && !(await options.confirmData?.(await toQuestion(identity, trust)))) {
    return { refusal: await describeRefusal(identity, trust), noteStore: async () => {} }
  }
  if (!isKnown) await remember(options, identity)
  return {
    refusal: null,
    noteStore: async () => remember(options, await identify(options.dataDirectory)),
  }
}

/** Reads what the folder is, and changes nothing in it but that it gets an id. */
export async function lookAtDataFolder(
  options: Pick<DataFolderOptions, "dataDirectory" | "environment" | "homeDirectory">,
): Promise<{ readonly identity: DataFolderIdentity; readonly trust: DataFolderTrust }> {
  const identity = await identify(options.dataDirectory)
  return { identity, trust: await judge(identity, options) }
}

async function judge(
  identity: DataFolderIdentity,
  { environment, homeDirectory }: Pick<DataFolderOptions, "environment" | "homeDirectory">,
): Promise<DataFolderTrust> {
  if (isNew(identity.path)) return "new"
  if (identity.id !== null && environment[TRUST_VARIABLE] === identity.id) return "known"
  const standing = await openKnownDataFolders(homeDirectory).look(identity)
  return standing === "unknown" && (await isForeign(identity.path)) ? "foreign" : standing
}

async function identify(dataDirectory: string): Promise<DataFolderIdentity> {
  const path = await realpath(dataDirectory)
  const id = await readDataFolderId(path)
  const storeInode = await toInode(join(path, STORE_FILE))
  // A store has no journal of this kind: SQLite would roll the store back to it.
  const isJournalled = (await toInode(join(path, `${STORE_FILE}-journal`))) !== null
  const logInode = isJournalled ? "journal" : await toInode(join(path, `${STORE_FILE}-wal`))
  return { path, id, inode: (await toInode(path)) ?? "", storeInode, logInode }
}

async function toInode(path: string): Promise<string | null> {
  try {
    const { ino, birthtimeNs } = await stat(path, { bigint: true })
    return `${ino} ${birthtimeNs}`
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return null
    throw error
  }
}

/** True if no Meanwhile has kept anything there yet, and nothing in it leads elsewhere. */
function isNew(path: string): boolean {
  const entries = readdirSync(path, { withFileTypes: true })
  return !entries.some((entry) => entry.isSymbolicLink() || KEPT.some((name) => entry.name.startsWith(name)))
}

/** The beginnings of the names of what programs keep in a data folder. */
const KEPT = [STORE_FILE, "spool", "backups", "plans", "begun", "ended", "keeper"] as const

async function isForeign(path: string): Promise<boolean> {
  const { uid } = await stat(path)
  return uid !== userInfo().uid
}

/** A home that keeps nothing costs a question at each start, not the start. */
async function remember(
  { homeDirectory, notify }: Pick<DataFolderOptions, "homeDirectory" | "notify">,
  identity: DataFolderIdentity,
): Promise<void> {
  try {
    await openKnownDataFolders(homeDirectory).remember(identity)
  } catch (error) {
    const instead = identity.id === null ? "" : `, or set ${TRUST_VARIABLE}=${identity.id}`
    notify(
      `The next start will ask about this data folder again: ${toErrorMessage(error)} Start with --trust${instead}.`,
    )
  }
}

async function toQuestion({ path }: DataFolderIdentity, trust: DataFolderTrust): Promise<string> {
  const kept = await describeKept(path)
  return [
    `The data folder ${toVisibleText(path)} ${DISTRUST[trust]}.`,
    `It holds ${kept}. Running them runs commands and agents in your name.`,
    "Run them here?",
  ].join("\n")
}

async function describeRefusal({ path, id }: DataFolderIdentity, trust: DataFolderTrust): Promise<string> {
  const kept = await describeKept(path)
  const instead = id === null ? "" : ` or with ${TRUST_VARIABLE}=${id} in the environment,`
  return [
    `The data folder ${toVisibleText(path)} ${DISTRUST[trust]}. It holds ${kept}; nothing of it runs.`,
    "To look at it: meanwhile tasks. To run it: start with --trust,",
    `${instead} or answer the question of a chat. To leave it alone: --data-dir FOLDER`,
  ].join("\n")
}

/** In words, after the folder's name. */
export const DISTRUST: Readonly<Record<DataFolderTrust, string>> = {
  new: "is new",
  known: "is known",
  changed: "is not the one your programs used: it or its store was replaced",
  copied: "is a copy of one your programs made, or was moved here",
  foreign: "belongs to another user",
  unknown: "was not made by your programs, or by an earlier version of them",
}

/** In words: "12 queued tasks, 1 running task and 2 conversations". */
async function describeKept(path: string): Promise<string> {
  if ((await toInode(join(path, STORE_FILE))) === null) return "files of another program, and no store"
  await using engine = await openStoreFile(join(path, STORE_FILE))
  const tasks = await Promise.all(
    LIVE_STATUSES.map(async (status) => {
      const count = await engine.store.countTasks({ statuses: [status] })
      return count === 0 ? [] : [countOf(count, `${status} task`)]
    }),
  )
  const { items, cursor } = await engine.store.sessions(DEFAULT_WORKSPACE, { limit: MOST_SESSIONS })
  const sessions = `${cursor === undefined ? "" : "more than "}${countOf(items.length, "conversation")}`
  return new Intl.ListFormat("en").format([...tasks.flat(), sessions])
}

function countOf(count: number, what: string): string {
  return `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`
}
