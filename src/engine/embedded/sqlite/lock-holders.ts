import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { hostname } from "node:os"
import { DatabaseSync } from "node:sqlite"
import type { JsonObject } from "../../../base/json.ts"

/** The byte of the `-shm` file that a process locks while it writes, as SQLite's file format says. */
const WRITE_LOCK_BYTE = "120"
/** The byte that a process holds locked for reading for as long as it has the store open. */
const OPEN_BYTE = "128"

/**
 * Names the processes that may keep others from writing to the store, as the end of a sentence, with what to do. Only
 * Linux tells which one holds the lock; elsewhere all that have the store open are named, those that stand still first.
 */
export function describeLockHolders(path: string): string {
  const holders = findHolders(path)
  const pids = holders.length > 0 ? holders : readAttached(path)
  const others = pids.filter((pid) => pid !== process.pid)
  const stopped = others.filter(isStopped)
  if (stopped.length > 0) return ` by process ${list(stopped)}, which stands still. ${toRemedy(stopped)}`
  if (holders.length > 0 && others.length > 0) return ` by process ${list(others)}. If it makes no progress, end it.`
  if (others.length > 0) return ` by another process; ${list(others)} ${others.length > 1 ? "have" : "has"} it open.`
  return holders.length > 0 ? " by this program itself." : " by another process."
}

/** True if another process has the store open. False where the system does not tell. */
export function isOpenElsewhere(path: string): boolean {
  return findLocks(path, "READ", OPEN_BYTE).some((pid) => pid !== process.pid)
}

/** The process that holds the lock; none where the system does not tell. */
const findHolders = (path: string): readonly number[] => findLocks(path, "WRITE", WRITE_LOCK_BYTE)

function findLocks(path: string, wanted: "READ" | "WRITE", byte: string): readonly number[] {
  try {
    const inode = statSync(`${path}-shm`).ino
    const held = readFileSync("/proc/locks", "utf8").split("\n")
    return held.flatMap((line) => {
      const [, , , mode, pid, file, first, last] = line.split(/\s+/)
      const isMeant = mode === wanted && first === byte && last === byte
      return isMeant && file?.endsWith(`:${inode}`) && Number(pid) > 0 ? [Number(pid)] : []
    })
  } catch {
    return []
  }
}

/** The processes of this machine that have the store open. They can be read while one of them writes. */
function readAttached(path: string): readonly number[] {
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    try {
      const rows = database.prepare("SELECT data FROM attachments").all() as { data: string }[]
      const holders = rows.map(({ data }) => JSON.parse(data) as JsonObject)
      const pids = holders.flatMap(({ host, pid }) => (host === hostname() && typeof pid === "number" ? [pid] : []))
      return [...new Set(pids)].filter((pid) => readState(pid) !== "")
    } finally {
      database.close()
    }
  } catch {
    return []
  }
}

/** True after SIGSTOP, Ctrl+Z, or under a debugger. */
function isStopped(pid: number): boolean {
  return /^t/i.test(readState(pid))
}

/** The letter of the process table; empty if there is no such process. */
function readState(pid: number): string {
  try {
    if (!existsSync("/proc/self/stat"))
      return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8", stdio: "pipe" }).trim()
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // Behind the name of the program, which is in brackets and may hold anything.
    return text.slice(text.lastIndexOf(")") + 2, text.lastIndexOf(")") + 3)
  } catch {
    return ""
  }
}

function list(pids: readonly number[]): string {
  return pids.join(" and ")
}

function toRemedy(pids: readonly number[]): string {
  const words = pids.join(" ")
  return `Let it go on with \`kill -CONT ${words}\`, or end it with \`kill -KILL ${words}\`: nothing that was stored is lost.`
}
