import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { readFacts } from "../../src/runner/process/process-file.ts"
import { isWorkerAlive } from "../../src/runner/worker/worker-identity.ts"
import { readProcess } from "../../src/runner/process/table.ts"
import { type ChildWorker, startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import type { WorkerHabit } from "../support/programs/worker.ts"
import { hasEvent, interceptCommits } from "../support/intercept-commits.ts"
import { openTestEngine, openTestRuntime } from "../support/test-engine.ts"
import { createFolder, openIn } from "../support/workplace.ts"
import type { TaskId } from "../../src/task/id.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { WORKER_LEASE_PREFIX } from "../../src/task/worker.ts"

const background = { leaseSeconds: 0.5 }
/** Writes that it began, and below which parent, and ends once `go` exists. */
const COMMAND = "echo $PPID >> began; echo begun; until test -e go; do sleep 0.02; done; echo done"

/** A worker that stands still before its first command, and a runtime beside it that takes no work. */
async function freezeWorker(habit: WorkerHabit) {
  const directory = createFolder()
  const desk = await openIn(directory, { background, takesWork: false })
  const worker = await startChildWorker(directory, background, habit)
  // The worker answers once it goes on.
  const started = worker.start([{ tool: "run_command", input: { command: COMMAND } }])
  await eventually("it stands still", () => worker.isSuspended())
  const [task] = (await desk.engine.store.tasks({}, { limit: 10 })).items
  expect(task).toMatchObject({ status: "running", fence: 1 })
  const id = task?.id ?? ""
  const began = (): readonly string[] => {
    const path = join(directory, "began")
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []
  }
  return { directory, desk, worker, started, id, began, spool: join(directory, "data", "spool", id) }
}

/** Lets the worker go on long enough for its wrapper and for the note of a start. Then it has left the run. */
async function thaw(worker: ChildWorker, started: Promise<unknown>): Promise<void> {
  worker.continue()
  await started
  await eventually("it is awake", () => !worker.isSuspended())
  await worker.close()
}

describe.for(["stops_at_folder", "stops_at_spawn"] as const)(
  "a worker that %s and goes on after a takeover",
  (habit) => {
    test("starts nothing beside the command of the worker that has taken over", async () => {
      const { directory, worker, started, id, began, spool } = await freezeWorker(habit)
      const next = await openIn(directory, { background })
      await eventually("the next worker's command runs", () => began().length === 1)
      const files = readProcessFiles(spool)
      await thaw(worker, started)
      expect(began()).toHaveLength(1)
      expect(Object.keys(readProcessFiles(spool))).toEqual(Object.keys(files))
      const [claimed = ""] = Object.entries(files).flatMap(([name, text]) => (text.startsWith("claim ") ? [name] : []))
      expect(claimed, "the next worker's command has claimed a file").not.toBe("")
      const readClaimed = () => readFacts(join(spool, "1", claimed))
      await eventually("the start of the next worker's command is noted", () => readClaimed()?.startedAt !== undefined)
      const facts = readClaimed()
      if (typeof facts?.claim !== "object") throw new Error("The next worker's command has claimed no file.")
      expect(facts.startedAt).toBe(readProcess(facts.claim.pid)?.startedAt)
      expect(readFileSync(join(spool, "1", claimed), "utf8").match(/^start /gm)).toHaveLength(1)
      writeFileSync(join(directory, "go"), "")
      const { task } = await next.tasks.result(id, { waitMs: 30_000 })
      expect(task).toMatchObject({ status: "completed", run: 1, fence: 2 })
      expect((await next.tasks.output(id)).text).toBe("begun\ndone\n")
      expect(began()).toHaveLength(1)
      const types = (await next.engine.store.events(task.id, 0, 100)).map(({ body }) => body.type)
      expect(types.filter((type) => type === "task.completed")).toHaveLength(1)
    })

    test("does not take the place of the command that the next worker is about to start", async () => {
      const { directory, desk, worker, started, id, began } = await freezeWorker(habit)
      const next = await startChildWorker(directory, { leaseSeconds: 12 }, "stops_at_spawn")
      await eventually("the next worker is about to start the command", () => next.isSuspended())
      expect((await desk.tasks.get(id)).task).toMatchObject({ status: "running", fence: 2 })
      await thaw(worker, started)
      expect(began()).toEqual([])
      next.continue()
      await eventually("the next worker's command runs", () => began().length === 1)
      writeFileSync(join(directory, "go"), "")
      const { task } = await desk.tasks.result(id, { waitMs: 30_000 })
      expect(task).toMatchObject({ status: "completed", run: 1, fence: 2 })
      expect((await desk.tasks.output(id)).text).toBe("begun\ndone\n")
      expect(began()).toHaveLength(1)
      await next.close()
    })

    test("does not fail the task that another worker is about to take over", async () => {
      const { directory, desk, worker, started, id, began } = await freezeWorker(habit)
      const engine = await openTestEngine(join(directory, "data"), { isHolderAlive: isWorkerAlive })
      const deciding = Promise.withResolvers<void>()
      const thawed = Promise.withResolvers<void>()
      onTestFinished(() => thawed.resolve())
      interceptCommits({ engine }, async (operations, commit) => {
        if (hasEvent(operations, "task.released")) {
          deciding.resolve()
          await thawed.promise
        }
        return commit(operations)
      })
      const opening = openIn(directory, { background, engine })
      await deciding.promise
      writeFileSync(join(directory, "go"), "")
      worker.continue()
      await started
      // The one that was slow to decide loses the task again, to this one or to nobody.
      const isUndecided = ({ status, fence }: TaskRecord) => status === "running" && fence === 1
      await eventually("it is decided about", async () => !isUndecided((await desk.tasks.get(id)).task))
      thawed.resolve()
      await opening
      const { task } = await desk.tasks.result(id, { waitMs: 30_000 })
      expect(task).toMatchObject({ status: "completed", run: 1 })
      expect(began()).toHaveLength(1)
    })

    test("starts nothing of a task that was cancelled meanwhile", async () => {
      const { directory, desk, worker, started, id, began } = await freezeWorker(habit)
      await desk.tasks.cancel(id)
      const next = await openIn(directory, { background })
      await eventually("it is cancelled", async () => (await next.tasks.get(id)).task.status === "cancelled")
      await thaw(worker, started)
      expect(began()).toEqual([])
      expect((await next.tasks.get(id)).task.status).toBe("cancelled")
    })

    test("starts nothing of a task that was ended by a worker that does not have its tool", async () => {
      const { directory, desk, worker, started, id, began } = await freezeWorker(habit)
      const next = await openTestRuntime({ dataDirectory: join(directory, "data"), background, plugins: [] })
      onTestFinished(() => next.close())
      await eventually("it is ended", async () => (await desk.tasks.get(id)).task.status === "interrupted")
      await thaw(worker, started)
      expect(began()).toEqual([])
      expect((await desk.tasks.get(id)).task.status).toBe("interrupted")
    })

    test("starts nothing beside the worker that has taken over, although its lease was gone before", async () => {
      const { directory, desk, worker, started, id, began } = await freezeWorker(habit)
      const { store } = desk.engine
      const task = await store.task(id as TaskId)
      if (task?.status !== "running") throw new Error("It does not run.")
      const lease = (await store.leases(WORKER_LEASE_PREFIX)).find(({ holder }) => holder === task.worker)
      if (!lease) throw new Error("Its worker has no lease.")
      await store.commit([{ op: "lease.release", key: lease.key, holder: lease.holder, fence: lease.fence }])
      await openIn(directory, { background })
      const isDecided = async () => {
        const { status, fence } = (await desk.tasks.get(id)).task
        return status === "interrupted" || (fence === 2 && began().length === 1)
      }
      await eventually("it is decided about", isDecided)
      const before = began()
      await thaw(worker, started)
      expect(began()).toEqual(before)
    })
  },
)

function readProcessFiles(spool: string): Record<string, string> {
  const names = readdirSync(join(spool, "1")).filter((name) => name.startsWith("process-"))
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(spool, "1", name), "utf8")]))
}
