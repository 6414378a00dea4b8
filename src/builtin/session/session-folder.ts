import { readdir, readFile, rm, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { describeFolderProblem } from "../../base/folder-problem.ts"
import { systemCodeOf, unlessMissing } from "../../base/system-error.ts"
import { textOf } from "../../plugin/message.ts"
import type { SessionInfo, SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { isSessionId, requireSessionId, parseFileText, toDamaged, toFileText } from "./session-file.ts"
import { writeWholeFile } from "./whole-file.ts"

const ENDING = ".json"

/** Conversations as files of one folder, one each. One process at a time changes a file; the last write wins. */
export interface SessionFolder {
  /**
   * Returns the path. Then removes the oldest beyond `most`; files that cannot be read are neither counted nor touched.
   */
  write(state: SessionState, most: number): Promise<string>
  read(id: SessionId): Promise<SessionState | undefined>
  /** The last used first. A file that cannot be read is listed as such. */
  list(): Promise<readonly SessionInfo[]>
  /** False when there was none. */
  remove(id: SessionId): Promise<boolean>
}

interface Entry {
  readonly info: SessionInfo
  readonly isReadable: boolean
}

export function createSessionFolder(path: string): SessionFolder {
  const toPath = (id: SessionId): string => {
    requireSessionId(id)
    return join(path, `${id}${ENDING}`)
  }

  async function read(id: SessionId): Promise<SessionState | undefined> {
    const file = toPath(id)
    const text = await unlessMissing(readFile(file, "utf8"))
    if (text === undefined) return undefined
    const state = parseFileText(text, file)
    if (state.id === id) return state
    throw toDamaged(file, `it holds the conversation ${state.id}`)
  }

  async function remove(id: SessionId): Promise<boolean> {
    try {
      await rm(toPath(id))
      return true
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return false
      throw error
    }
  }

  async function listEntries(): Promise<readonly Entry[]> {
    const ids = await listIds(path)
    const entries = await Promise.all(ids.map((id) => toEntry(id, toPath(id), () => read(id))))
    return entries.filter((entry) => entry !== undefined).toSorted((a, b) => b.info.updatedAt - a.info.updatedAt)
  }

  async function write(state: SessionState, most: number): Promise<string> {
    // An unreadable file, or one of a newer Meanwhile, is not overwritten.
    await read(state.id)
    const file = toPath(state.id)
    await writeWholeFile(file, toFileText(state))
    const others = (await listEntries()).filter(({ info, isReadable }) => isReadable && info.id !== state.id)
    for (const { info } of others.slice(most - 1)) await remove(info.id)
    return file
  }

  return {
    read,
    remove,
    list: async () => (await inFolder(path, listEntries)).map(({ info }) => info),
    write: (state, most) => inFolder(path, () => write(state, most)),
  }
}

/** The errors that are about a folder. Others pass, as where too many files are open, or are about one file. */
const FOLDER_CODES: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EEXIST", "EACCES", "EPERM", "EROFS", "ELOOP"])

/** Refuses a folder that cannot be used with the key of the configuration that names it. */
async function inFolder<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isMeanwhileError(error) || !FOLDER_CODES.has(systemCodeOf(error) ?? "")) throw error
    throw new MeanwhileError("invalid_input", describeStorageProblem(path, error), { path }, { cause: error })
  }
}

/** Says why conversations cannot be kept there, and what to do about it. */
export function describeStorageProblem(path: string, error: unknown): string {
  const reason = describeFolderProblem(error)
  return `The folder for conversations ${path} cannot be used: ${reason}. Name another one as session.storagePath in the configuration.`
}

function toTitle(messages: SessionState["messages"]): string | null {
  const first = messages.find(({ role }) => role === "user")
  return first ? textOf(first) : null
}

async function toEntry(
  id: SessionId,
  path: string,
  read: () => Promise<SessionState | undefined>,
): Promise<Entry | undefined> {
  try {
    const state = await read()
    if (!state) return undefined
    const { description, turns, createdAt, updatedAt, messages } = state
    const title = toTitle(messages)
    return { info: { id, title, description, turns, createdAt, updatedAt }, isReadable: true }
  } catch (error) {
    const at = await stat(path).then(
      ({ mtimeMs }) => Math.floor(mtimeMs),
      () => 0,
    )
    const reason = isMeanwhileError(error, "store_newer") ? "written by a newer Meanwhile" : "damaged"
    const description = `(unreadable: ${isMeanwhileError(error) ? reason : toErrorMessage(error)})`
    return { info: { id, description, turns: 0, createdAt: at, updatedAt: at }, isReadable: false }
  }
}

async function listIds(path: string): Promise<readonly SessionId[]> {
  const names = await readdir(path).catch((error: unknown) => {
    if (systemCodeOf(error) === "ENOENT") return []
    throw error
  })
  return names
    .filter((name) => name.endsWith(ENDING))
    .map((name) => basename(name, ENDING))
    .filter(isSessionId)
}
