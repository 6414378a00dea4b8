import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Operation } from "../../src/task/operation.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../src/task/id.ts"
import { openAgent } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { hasEvent, interceptCommits } from "../support/intercept-commits.ts"
import { openRunner } from "../support/open-runner.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

const SESSION = "baker" as SessionId

/** A stop alone is refused; one that comes with the end is not. */
const isStopAlone = (operations: readonly Operation[]): boolean =>
  hasEvent(operations, "task.stop_requested") && !hasEvent(operations, "task.cancelled")

const refuse = (): never => {
  throw new MeanwhileError("disk_full", "The disk is full.")
}

test("a turn that does not end is given up although its stop could not be stored, and ends as stopped", async () => {
  const directory = createFolder()
  const clock = createManualClock()
  const engine = await openTestEngine(directory, { clock })
  const body = () => new Promise<never>(() => {})
  const runner = await openRunner(directory, {
    engine,
    clock,
    tools: [],
    continueTurn: body,
    background: { stopGraceSeconds: 1 },
  })
  const operations = [{ op: "session.create", id: SESSION, workspace: DEFAULT_WORKSPACE, data: {} }] as const
  const begun = {
    session: SESSION,
    workspace: DEFAULT_WORKSPACE,
    model: "m",
    title: "Go.",
    parentTask: null,
    traceId: null,
  }
  const { taskId, ended } = await runner.beginTurn({ ...begun, operations }, body)
  interceptCommits({ engine }, async (given, commit) => (isStopAlone(given) ? refuse() : commit(given)))
  const request = { by: "person", reason: "enough" } as const
  runner.abortTurn(taskId, request)
  await expect(runner.cancel(taskId, request)).rejects.toMatchObject({ code: "disk_full" })
  clock.advance(3_000)
  expect(await ended).toMatchObject({ status: "cancelled", stop: { by: "person", reason: "enough" } })
})

test("a turn that is stopped while it begins asks no model, although its stop could not be stored", async () => {
  const clock = createManualClock()
  const { runtime, session, model } = await openAgent(["never said"], { isKept: true, clock })
  interceptCommits(runtime, async (operations, commit) => {
    if (operations.some(({ op }) => op === "task.create")) session.stop("enough")
    return isStopAlone(operations) ? refuse() : commit(operations)
  })
  const sending = session.send("Go.")
  let isOver = false
  const end = (): void => void (isOver = true)
  sending.then(end, end)
  // While the stop is refused it is tried again, for as long as there is patience with the store.
  for (; !isOver; await nextTurn()) {
    clock.advance(100)
    await runtime.engine.store.session(session.id)
  }
  const { outcome, turn } = await sending
  expect(outcome).toBe("stopped")
  expect(model.callCount).toBe(0)
  await eventually("its end is kept", async () => {
    const { task } = await runtime.tasks.get(turn ?? "")
    return task.status === "cancelled"
  })
})
