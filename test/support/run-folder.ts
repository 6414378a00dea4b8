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

/** Linux keeps files in memory here. A store takes half the computing time there, and nobody waits for the disk. */
const MEMORY = "/dev/shm"
const ENOUGH_BYTES = 4 * 2 ** 30
const DAY_MS = 86_400_000
export const NAMESPACE_FILE = "namespace"

/**
 * Runs once, before all tests: their temporary folders are in this one, which goes with the run, whatever a killed
 * program left in it.
 */
export function setup(): () => void {
  const folder = createFolder(MEMORY) ?? createFolder(tmpdir())
  if (folder !== undefined) process.env["TMPDIR"] = folder
  return () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Undefined where tests cannot work: too little room, or nothing may be executed there. */
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
 * The folders of runs that were killed. The pid in a name means nothing to a container that has pids of its own and shares
 * the parent folder: a folder of another one is removed when nothing was made in it for a day.
 */
export function removeAbandoned(parent: string, remove = removeFolder): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^meanwhile-(\d+)-/.exec(name) ?? []
    const folder = join(parent, name)
    if (pid === undefined || readProcess(Number(pid)) !== undefined) continue
    try {
      if (readNamespaceOf(folder) === readNamespace() || isOld(folder)) remove(folder)
    } catch {
      // It is another user's, or another run has just removed it.
    }
  }
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** The pids among which this process has its own. Only Linux has several such sets. */
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
