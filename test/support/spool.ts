import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import type { OutputRequest } from "../../src/plugin/output.ts"
import type { ProcessRequest } from "../../src/plugin/process.ts"
import { type ProcessIdentity, thisProcessIdentity } from "../../src/runner/process/identity.ts"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"
import type { RunSpool } from "../../src/runner/spool/run-spool.ts"
import { createSpool, type Spool } from "../../src/runner/spool/spool.ts"
import { createTaskId, type TaskId } from "../../src/task/id.ts"
import { endProcessesAfterTest } from "./processes.ts"

export interface TestSpool {
  readonly directory: string
  readonly spool: Spool
  readonly taskId: TaskId
  readonly run: RunSpool
  /** Another Meanwhile process on the same folder, with the same run opened. */
  reopen(options?: SpoolTestOptions): { readonly spool: Spool; readonly run: RunSpool }
}

export interface SpoolTestOptions {
  readonly outputLimitBytes?: number
  readonly environment?: Record<string, string>
  readonly owner?: ProcessIdentity
  readonly onDropped?: (before: number) => void
}

const LARGE_LIMIT_BYTES = 64 * 1_024 * 1_024

/** A spool with one open run. Its folder and its processes are gone after the test. */
export function createTestSpool(options: SpoolTestOptions = {}): TestSpool {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-spool-"))
  const taskId = createTaskId()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  endProcessesAfterTest(`MEANWHILE_TASK=${taskId}`)

  function open(more: SpoolTestOptions) {
    const { environment = {}, owner = thisProcessIdentity(), outputLimitBytes = LARGE_LIMIT_BYTES, onDropped } = more
    const redactor = createRedactor({ environment })
    const spool = createSpool({ directory, clock: systemClock, redactor, owner })
    onTestFinished(() => spool.close())
    const run = spool.openRun(taskId, 1, { outputLimitBytes, ...(onDropped && { onDropped }) })
    return { spool, run }
  }

  return { directory, taskId, ...open(options), reopen: (more = {}) => open({ ...options, ...more }) }
}

export function toShell(command: string): ProcessRequest {
  return { argv: ["sh", "-c", command], cwd: tmpdir(), env: { PATH: process.env["PATH"] ?? "" } }
}

export const NEVER_STOPPED: Parameters<RunSpool["runProcess"]>[1] = {
  signal: new AbortController().signal,
  graceMs: 5_000,
}

/** Reads all the output that is kept, in pieces of the requested size. */
export async function readAll(run: RunSpool, request: OutputRequest = {}): Promise<string> {
  let text = ""
  for (let offset = request.offset ?? 0; ; ) {
    const chunk = await run.read({ ...request, offset }, { isComplete: true })
    text += chunk.text
    offset = chunk.nextOffset
    if (chunk.isComplete) return text
  }
}
