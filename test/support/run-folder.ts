import { spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readProcess } from "../../src/runner/process/table.ts"

/** Linux keeps files in memory here. A store takes half the computing time, and no write waits for the disk. */
const MEMORY = "/dev/shm"
const ENOUGH_BYTES = 4 * 2 ** 30
const DAY_MS = 86_400_000
export const NAMESPACE_FILE = "namespace"

/**
 * Runs once, before all tests: makes the folder that holds all their temporary folders. It is removed after the run, with all
 * that killed programs have left there.
 */
export function setup(): () => void {
  const folder = createFolder(MEMORY) ?? createFolder(tmpdir())
  if (folder !== undefined) process.env["TMPDIR"] = folder
  return () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Undefined if tests cannot work in `parent`: too little room, or files there may not be executed. */
function createFolder(parent: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(parent)
    if (bavail * bsize < ENOUGH_BYTES) return undefined
    removeAbandoned(parent)
    const folder = mkdtempSync(join(parent, `meanwhile-${process.pid}-`))
    // The servers of tests run as another user.
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, NAMESPACE_FILE), readNamespace())
    if (canExecute(join(folder, "try.sh"))) return folder
    rmSync(folder, { recursive: true })
  } catch {
    // There is no such folder.
  }
  return undefined
}

/**
 * Removes the folders of runs that were killed. The pid in a name means nothing in another container that shares the parent
 * folder, so a folder of another container is removed only when nothing was made in it for a day.
 */
export function removeAbandoned(parent: string, remove = removeFolder): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^meanwhile-(\d+)-/.exec(name) ?? []
    const folder = join(parent, name)
    if (pid === undefined || readProcess(Number(pid)) !== undefined) continue
    try {
      if (readNamespaceOf(folder) === readNamespace() || isOld(folder)) remove(folder)
    } catch {
      // The folder belongs to another user, or another run has just removed it.
    }
  }
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** The pid namespace of this process. Only Linux has several. */
export function readNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return "the only one"
  }
}

function readNamespaceOf(folder: string): string | undefined {
  const path = join(folder, NAMESPACE_FILE)
  return existsSync(path) ? readFileSync(path, "utf8") : undefined
}

function isOld(folder: string): boolean {
  return Date.now() - statSync(folder).mtimeMs > DAY_MS
}

function canExecute(path: string): boolean {
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 })
  return spawnSync(path).status === 0
}
