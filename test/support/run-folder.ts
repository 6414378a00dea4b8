import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readProcess } from "../../src/runner/process/table.ts"

/** Linux keeps files in memory here. A store takes half the computing time there, and nobody waits for the disk. */
const MEMORY = "/dev/shm"
const ENOUGH_BYTES = 4 * 2 ** 30

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
    if (canExecute(join(folder, "try.sh"))) return folder
    rmSync(folder, { recursive: true })
  } catch {
    // There is no such folder.
  }
  return undefined
}

/** The folders of runs that were killed. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^meanwhile-(\d+)-/.exec(name) ?? []
    if (pid !== undefined && readProcess(Number(pid)) === undefined)
      rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function canExecute(path: string): boolean {
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 })
  return spawnSync(path).status === 0
}
