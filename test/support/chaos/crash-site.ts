import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../../src/base/clock.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import { isZombie, listProcesses, readCommand } from "../../../src/runner/process/table.ts"
import { thisProcessIdentity } from "../../../src/runner/process/identity.ts"
import { createRedactor } from "../../../src/runner/redaction/redactor.ts"
import { createSpool } from "../../../src/runner/spool/spool.ts"
import { isWorkerAlive } from "../../../src/runner/worker/worker-identity.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import { parseWrittenEffects } from "./effects.ts"
import { type Expectations, explain, findViolations } from "./outcome-invariants.ts"
import { describeLive, readHistories, type StoredHistory } from "./store-invariants.ts"
import { toExpectation } from "./shell-script.ts"

/** The variable that every process started here has in its environment, with the folder as its value. */
export const SITE_MARKER = "CHAOS_STORE"
/** A run folder that has no owner for this long is cleared away by the next start. */
const OWNERLESS_MS = 120_000

/** A folder with a real store in which programs are killed. */
export interface CrashSite {
  readonly directory: string
  readonly dataDirectory: string
  readonly effectsFile: string
  /** Makes run folders look older, so that folders whose process died before it had signed them are cleared away. */
  age(): void
  /** The full ids; an id that the store does not know is returned unchanged. */
  toFullIds(shortIds: Iterable<string>): Promise<readonly string[]>
  describeLive(): Promise<string>
  findViolations(expected: Omit<Expectations, "effects">): Promise<readonly string[]>
  remove(): void
}

export function createCrashSite(): CrashSite {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-kill-"))
  const dataDirectory = join(directory, "data")
  const effectsFile = join(directory, "effects")
  const spoolDirectory = join(dataDirectory, "spool")
  const openEngine = () =>
    createEmbeddedEngine({ path: join(dataDirectory, "store.sqlite"), isHolderAlive: isWorkerAlive })
  const listFolders = (): readonly string[] => (existsSync(spoolDirectory) ? readdirSync(spoolDirectory) : [])

  return {
    directory,
    dataDirectory,
    effectsFile,
    async toFullIds(shortIds) {
      await using engine = await openEngine()
      const ids = (await readHistories(engine.store)).map(({ task }) => task.id)
      return [...shortIds].map((short) => ids.find((id) => id.startsWith(short)) ?? short)
    },
    async describeLive() {
      await using engine = await openEngine()
      return await describeLive(engine.store)
    },
    age() {
      const past = new Date(Date.now() - OWNERLESS_MS)
      for (const folder of listFolders()) {
        const path = join(spoolDirectory, folder)
        if (!lstatSync(join(path, "owner"), { throwIfNoEntry: false })) utimesSync(path, past, past)
      }
    },
    async findViolations(expected) {
      await using engine = await openEngine()
      const { store } = engine
      const effects = parseWrittenEffects(readIfThere(effectsFile))
      const histories = await readHistories(store)
      const ids = new Set<string>(histories.map(({ task }) => task.id))
      const leases = await store.leases("worker:")
      return [
        ...(await findViolations(store, { ...expected, effects })),
        ...(await findWrongShellRuns(histories, spoolDirectory)).map((problem) => explain(problem, histories)),
        ...leases.map((lease) => `${lease.key} is registered and gone`),
        ...listFolders().flatMap((folder) => (ids.has(folder) ? [] : [`the folder ${folder} belongs to no task`])),
        ...findOrphans(directory),
      ]
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

export function findOrphans(directory: string): readonly string[] {
  return listProcesses(`${SITE_MARKER}=${directory}`)
    .filter((entry) => entry.isMarked && !isZombie(entry))
    .map(({ pid }) => `process ${pid} was left running: ${readCommand(pid)}`)
}

async function findWrongShellRuns(
  histories: readonly StoredHistory[],
  spoolDirectory: string,
): Promise<readonly string[]> {
  const owner = thisProcessIdentity()
  const redactor = createRedactor({ environment: {} })
  const spool = createSpool({ directory: spoolDirectory, clock: systemClock, redactor, owner })
  const runs = histories.flatMap((history) => history.runs).filter((run) => run.tool === "run_command")
  const problems = await Promise.all(
    runs.map(async (run) => {
      const { text } = await spool.read(run.id, run.run, {}, { isComplete: true })
      const problem = findWrongShellRun(run, text)
      return problem ? [`command ${run.id} run ${run.run} is ${run.status}: ${problem}`] : []
    }),
  )
  await spool.close()
  return problems.flat()
}

/** A command must keep all output and its exit code, however often the process that watched it died. */
function findWrongShellRun(run: TaskRecord, output: string): string | undefined {
  const { command } = run.input as { command: string }
  const expected = toExpectation(command)
  // A shell prints this when the stop ended the shell's child before the shell itself.
  const own = run.status === "cancelled" ? output.replaceAll("Terminated\n", "") : output
  if (run.status === "cancelled") return expected.output.startsWith(own) ? undefined : `it printed ${output}`
  if (run.status !== "completed" && run.status !== "failed") return "it can be taken over, and was not"
  const { exitCode } = (run.patch?.payload ?? {}) as { exitCode?: number }
  if (exitCode !== expected.exitCode) return `it exits with ${expected.exitCode}, the record says ${exitCode}`
  if ((run.status === "completed") !== (exitCode === 0)) return `it exited with ${exitCode}`
  return output === expected.output ? undefined : `it prints ${expected.output}, kept is ${output}`
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}
