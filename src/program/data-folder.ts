import { type BigIntStats, readdirSync } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { findStoreId, type OnStoreOpened, openStoreFile, readDataFolderId, STORE_FILE } from "../app.ts"
import type { Variables } from "../base/environment.ts"
import { toErrorMessage } from "../base/error.ts"
import { systemCodeOf } from "../base/system-error.ts"
import { toVisibleText } from "../base/visible-text.ts"
import { isOpenElsewhere } from "../engine/embedded/sqlite/lock-holders.ts"
import { OWN_FOLDER } from "../config/folder-contents.ts"
import { makeDataFolder } from "../config/make-folder.ts"
import {
  createKnownDataFolders,
  type DataFolderIdentity,
  type DataFolderStanding,
  isSameFolder,
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
  /** True if the folder was agreed to only now, unasked, by `trust`. */
  readonly isAgreedNow: boolean
  /** For everything that opens the store: remembers the store and its log. Undefined if the folder is refused. */
  readonly onStoreOpened: OnStoreOpened | undefined
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
  const looked = await lookAtDataFolder(options)
  const { identity, trust } = looked
  const isTrusted = trust === "new" || trust === "known"
  const isAgreedNow = !isTrusted && options.trust
  const refusal = isTrusted || isAgreedNow ? null : await askPerson(options, looked)
  if (refusal !== null) return { refusal, isAgreedNow, onStoreOpened: undefined }
  if (isAgreedNow)
    options.notify(
      `You agree to the data folder ${toVisibleText(identity.path)}: what is kept in it may run from now on.`,
    )
  // The log of an existing store is noted once the store is open: until then another program may make a new one.
  if (trust !== "known" && identity.storeInode === null) await remember(options, identity, null)
  return { refusal, isAgreedNow, onStoreOpened: toStoreOpened(options) }
}

export interface LookedAtDataFolder extends Pick<DataFolder, "onStoreOpened"> {
  readonly identity: DataFolderIdentity
  readonly trust: DataFolderTrust
}

type LookOptions = Pick<DataFolderOptions, "dataDirectory" | "environment" | "homeDirectory" | "notify">

/**
 * Reads what the folder is, and changes nothing in it but that it gets an id. A folder that was replaced is noted as such:
 * whoever looks into it next would wipe out the traces.
 */
export async function lookAtDataFolder(options: LookOptions): Promise<LookedAtDataFolder> {
  for (;;) {
    const identity = await identify(options.dataDirectory)
    const trust = await judge(identity, options)
    if (trust === "new" || trust === "known") return { identity, trust, onStoreOpened: toStoreOpened(options) }
    if (trust === "changed") {
      // The note is read after the files: while programs start and end, it may be about the log that came next.
      if (!isDeepStrictEqual(await identify(options.dataDirectory), identity)) continue
      // A log that a running program has open stays when the store is looked into: nothing is wiped out.
      if (!isOpenElsewhere(join(identity.path, STORE_FILE))) await distrust(options, identity)
    }
    return { identity, trust, onStoreOpened: undefined }
  }
}

function toStoreOpened(options: LookOptions): OnStoreOpened {
  let canRemember = true
  return async (storeId) => {
    if (!canRemember) return
    canRemember = await remember(options, await identify(options.dataDirectory), storeId)
  }
}

async function judge(
  identity: DataFolderIdentity,
  { environment, homeDirectory }: Pick<DataFolderOptions, "environment" | "homeDirectory">,
): Promise<DataFolderTrust> {
  const { path, id } = identity
  const isOfAnother = await isForeign(path)
  if (isNew(path) && !isOfAnother) return "new"
  if (id !== null && environment[TRUST_VARIABLE] === id) return "known"
  const standing = await openKnownDataFolders(homeDirectory).look(identity, () => findStoreId(join(path, STORE_FILE)))
  return standing === "unknown" && isOfAnother ? "foreign" : standing
}

async function identify(dataDirectory: string): Promise<DataFolderIdentity> {
  const path = await realpath(dataDirectory)
  const id = await readDataFolderId(path)
  const storeInode = await toInode(join(path, STORE_FILE))
  // A store has no journal of this kind: SQLite would roll the store back to it.
  const isJournalled = (await toInode(join(path, `${STORE_FILE}-journal`))) !== null
  const log = isJournalled ? null : await statOrNull(join(path, `${STORE_FILE}-wal`))
  const hasLog = isJournalled || (log !== null && log.size > 0n)
  return { path, id, inode: (await toInode(path)) ?? "", storeInode, logInode: log && describeInode(log), hasLog }
}

async function toInode(path: string): Promise<string | null> {
  const found = await statOrNull(path)
  return found && describeInode(found)
}

const describeInode = ({ ino, birthtimeNs }: BigIntStats): string => `${ino} ${birthtimeNs}`

async function statOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true })
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

/** False where the system has no user numbers. */
async function isForeign(path: string): Promise<boolean> {
  return process.getuid !== undefined && (await stat(path)).uid !== process.getuid()
}

/** A home that keeps nothing costs a line at each start, not the start. */
async function distrust(
  { homeDirectory, notify }: Pick<DataFolderOptions, "homeDirectory" | "notify">,
  identity: DataFolderIdentity,
): Promise<void> {
  try {
    await openKnownDataFolders(homeDirectory).distrust(identity)
  } catch (error) {
    notify(`That this data folder was replaced could not be noted: ${toErrorMessage(error)}`)
  }
}

/** A home that keeps nothing costs a question at each start, not the start. False if it does. */
async function remember(
  { homeDirectory, notify }: Pick<DataFolderOptions, "homeDirectory" | "notify">,
  identity: DataFolderIdentity,
  storeId: string | null,
): Promise<boolean> {
  try {
    await openKnownDataFolders(homeDirectory).remember(identity, storeId)
    return true
  } catch (error) {
    const instead = identity.id === null ? "" : `, or set ${TRUST_VARIABLE}=${identity.id}`
    notify(
      `The next start will ask about this data folder again: ${toErrorMessage(error)} Start with --trust${instead}.`,
    )
    return false
  }
}

/** Null if the person agrees to what was shown, and it still lies in the folder. Else why not. */
async function askPerson(
  { confirmData, ...options }: DataFolderOptions,
  { identity: { path, id }, trust }: LookedAtDataFolder,
): Promise<string | null> {
  const shown = await readKept(path)
  // After the store was read: its log has become part of it by then.
  const identity = await identify(path)
  const distrusted = `The data folder ${toVisibleText(path)} ${DISTRUST[trust]}.`
  if (!(await confirmData?.(toQuestion(distrusted, shown)))) return toRefusal(distrusted, shown, id)
  const isSame = isSameFolder(identity, await identify(path))
  if (isSame && isDeepStrictEqual(await readKept(path), shown)) return null
  // Another program may have asked the same question, and is at work by now.
  if ((await lookAtDataFolder(options)).trust === "known") return null
  return `The data folder ${toVisibleText(path)} has changed since you were asked about it: nothing of it runs. Start again to be asked about what it holds now.`
}

function toQuestion(distrusted: string, { words }: Kept): string {
  const danger = "Work that is kept in it, now or later, runs commands and agents in your name."
  return [distrusted, `It holds ${words}. ${danger}`, "Run the work of this folder here?"].join("\n")
}

function toRefusal(distrusted: string, { words }: Kept, id: string | null): string {
  const instead = id === null ? "" : `with ${TRUST_VARIABLE}=${id} in the environment, `
  return [
    `${distrusted} It holds ${words}; nothing of it runs.`,
    "To look at it: meanwhile tasks. To run it: start with --trust,",
    `${instead}or answer the question of a chat. To leave it alone: --data-dir FOLDER`,
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

interface Kept {
  /** "12 queued tasks, 1 running task and 2 conversations" */
  readonly words: string
  readonly storeId: string | null
}

async function readKept(path: string): Promise<Kept> {
  if ((await toInode(join(path, STORE_FILE))) === null) {
    return { words: isNew(path) ? "nothing yet" : "files of another program, and no store", storeId: null }
  }
  let storeId: string | null = null
  await using engine = await openStoreFile(join(path, STORE_FILE), {}, async (id) => void (storeId = id))
  const tasks = await Promise.all(
    LIVE_STATUSES.map(async (status) => {
      const count = await engine.store.countTasks({ statuses: [status] })
      return count === 0 ? [] : [countOf(count, `${status} task`)]
    }),
  )
  const { items, cursor } = await engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: MOST_SESSIONS })
  const sessions = `${cursor === undefined ? "" : "more than "}${countOf(items.length, "conversation")}`
  return { words: new Intl.ListFormat("en").format([...tasks.flat(), sessions]), storeId }
}

function countOf(count: number, what: string): string {
  return `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`
}
