import type { Stats } from "node:fs"
import { access, constants, mkdtemp, readdir, rmdir, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { type OnStoreOpened, openStoreFile, STORE_FILE } from "../app.ts"
import type { SessionConfig } from "../builtin/session/session-config.ts"
import { describeStorageProblem } from "../builtin/session/session-folder.ts"
import { describeHeldLock } from "../engine/embedded/sqlite/held-lock.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import { type Finding, findOr, ok, problem, warning } from "./finding.ts"
import { explainUnwritable } from "./unwritable.ts"

const OLDEST_NODE = 24
const ELSEWHERE = "Name another folder: --data-dir FOLDER"

/** Checks Node and the data folder. */
export async function examineHost(dataDirectory: string, nodeVersion: string): Promise<readonly Finding[]> {
  return [examineNode(nodeVersion), ...(await findOr("data folder", ELSEWHERE, () => examineFolder(dataDirectory)))]
}

/** Empty if agents can change files there. */
export async function examineProject(workingDirectory: string): Promise<readonly Finding[]> {
  try {
    await access(workingDirectory, constants.W_OK | constants.X_OK)
    return []
  } catch (error) {
    const { cause, fix } = await explainUnwritable(workingDirectory, error)
    const text = `Agents can change nothing in the folder of the project: ${cause}.`
    return [warning("project folder", text, `${fix ?? "Start in another folder"}.`)]
  }
}

/** Checks the store in the data folder. */
export function examineEmbedded(dataDirectory: string, onOpened?: OnStoreOpened): Promise<readonly Finding[]> {
  return findOr("engine", "Fix the problem above; the store was not changed.", () =>
    examineStore(join(dataDirectory, STORE_FILE), onOpened),
  )
}

function examineNode(version: string): Finding {
  const text = `Node ${version}`
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return ok("node", text)
  return problem("node", `${text} is too old.`, `Install Node ${OLDEST_NODE} or newer.`)
}

async function examineFolder(dataDirectory: string): Promise<readonly Finding[]> {
  try {
    const isThere = await tryUse(dataDirectory)
    const state = isThere ? "can be written" : "is made at the first start"
    return [ok("data folder", `${dataDirectory} ${state}`)]
  } catch (error) {
    const { cause, fix } = await explainUnwritable(await findNearest(dataDirectory), error)
    const text = `The data folder ${dataDirectory} cannot be used: ${cause}.`
    return [
      problem("data folder", text, fix === null ? ELSEWHERE : `${fix}. Or name another folder: --data-dir FOLDER`),
    ]
  }
}

/** Rejects if no files can be kept in this folder. True if it exists already. */
async function tryUse(path: string): Promise<boolean> {
  const isThere = await exists(path)
  if (isThere) await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  else await tryFolder(await findExisting(path))
  return isThere
}

/**
 * Why conversations cannot be kept where the configuration says; null if they can. Only with `makesFolder` a folder that
 * does not exist yet is tried by making one beside it: a start leaves nothing behind, even if it is killed.
 */
export async function findStorageProblem(
  { plugin, storagePath }: SessionConfig,
  workingDirectory: string,
  { makesFolder }: { readonly makesFolder: boolean },
): Promise<string | null> {
  if (plugin !== "file") return null
  const path = resolve(workingDirectory, storagePath)
  try {
    // First, as it tells a file from a folder that may not be written.
    const isThere = await exists(path)
    const nearest = isThere ? path : await findExisting(path)
    await readdir(nearest)
    if (makesFolder || isThere) await tryUse(path)
    else await access(nearest, constants.W_OK)
    return null
  } catch (error) {
    return describeStorageProblem(path, error)
  }
}

/** The folder that is there: this one, or the nearest above it. */
async function findNearest(path: string): Promise<string> {
  return (await exists(path).catch(() => false)) ? path : findExisting(path).catch(() => dirname(path))
}

/** The nearest folder above this path that exists. */
async function findExisting(path: string): Promise<string> {
  const parent = dirname(path)
  return (await exists(parent)) || parent === path ? parent : findExisting(parent)
}

/** Makes a folder and removes it. Permissions alone do not tell: below /proc even root can make none. */
async function tryFolder(parent: string): Promise<void> {
  await rmdir(await mkdtemp(join(parent, ".meanwhile-")))
}

/** True if the store holds a task that has not ended. */
export async function hasWork(dataDirectory: string, onOpened?: OnStoreOpened): Promise<boolean> {
  const path = join(dataDirectory, STORE_FILE)
  if (!(await exists(path))) return false
  await using engine = await openStoreFile(path, {}, onOpened)
  return (await engine.store.countTasks({ statuses: LIVE_STATUSES })) > 0
}

/** A commit of another program takes milliseconds. */
const LOCK_PATIENCE_MS = 1_000
const UNLOCK = "Until it is let go or ended, every other program waits for it, and is refused after 30 seconds."

async function examineStore(path: string, onOpened?: OnStoreOpened): Promise<readonly Finding[]> {
  if (!(await exists(path))) return [ok("engine", "embedded, nothing stored yet")]
  // Read first: the last program that closes a store moves its log into it.
  const bytes = (await sizeOf(path)) + (await sizeOf(`${path}-wal`))
  const lock = await describeHeldLock(path, LOCK_PATIENCE_MS)
  if (lock !== undefined) return [problem("engine", `The store ${path} is locked${lock}`, UNLOCK)]
  await using engine = await openStoreFile(path, {}, onOpened)
  const { isHealthy, problems } = await engine.store.checkIntegrity()
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`
  if (isHealthy) return [ok("engine", `embedded, healthy, ${size}`)]
  const fix = `Stop every Meanwhile, make a copy of ${path}, and bring back a backup or start without it.`
  return [problem("engine", `The store is damaged: ${problems.join("; ")}`, fix)]
}

/** In bytes; 0 for what is not there. */
async function sizeOf(path: string): Promise<number> {
  return (await statOrNull(path))?.size ?? 0
}

async function exists(path: string): Promise<boolean> {
  return (await statOrNull(path)) !== null
}

function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw error
  })
}
