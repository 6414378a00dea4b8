import { describe, expect, test } from "vitest"
import type { GroupId, TaskId } from "../../../../task/id.ts"
import type { Operation } from "../../../../task/operation.ts"
import { createJudgeLease } from "../../read/judge-lease.ts"
import { createChange } from "../../../rules/change.ts"
import { createPerform } from "../../../rules/perform.ts"
import type { NewTask, StoredTask } from "../../../rules/tables.ts"
import { COMPLETED, QUEUED, RUNNING, sampleDetails } from "../../../suite/samples.ts"
import { Missing, type WantedKind } from "./wants.ts"
import { createWorkingSet, type WorkingSet } from "./working-set.ts"

const NOW = 1_000

function begin(): { set: WorkingSet; run(...operations: readonly Operation[]): unknown[] } {
  const set = createWorkingSet(createJudgeLease())
  set.tasks.numbers.learn([1, 2, 3, 4, 5])
  const perform = createPerform(set.tables, set.leaseWatch)
  return { set, run: (...operations) => operations.map((operation) => perform(operation, createChange(NOW))) }
}

/** Learns a task as if it were stored. */
function learnTask({ tasks }: WorkingSet, changes: Parameters<typeof sampleDetails>[0] = {}, number = 70): StoredTask {
  const maker = createWorkingSet(createJudgeLease())
  maker.tasks.numbers.learn([number])
  const details = sampleDetails({ ...changes, group: null })
  createPerform(maker.tables, maker.leaseWatch)({ op: "task.create", details, entry: RUNNING }, createChange(NOW))
  const made = maker.tables.tasks.find(details.id) as StoredTask
  const task: StoredTask = { ...made, details: { ...made.details, group: changes.group ?? null } }
  tasks.learn({ task, hasUnusedResult: false, usedAt: null })
  return task
}

function wantedBy(look: () => unknown): WantedKind[] {
  try {
    look()
  } catch (error) {
    if (!(error instanceof Missing)) throw error
    return (Object.keys(error.wants.rows) as WantedKind[]).filter((kind) => error.wants.rows[kind].size > 0)
  }
  return []
}

const apply = (taskId: TaskId): Operation => ({ op: "task.apply", run: { taskId, run: 1, fence: 1 }, event: COMPLETED })

describe("a working set", () => {
  test("knows nothing of rows that were not loaded, and says what it lacks", () => {
    const { set, run } = begin()
    const { id } = sampleDetails()
    expect(wantedBy(() => run(apply(id)))).toEqual(["task"])
    set.tasks.learnId(id)
    expect(() => run(apply(id))).toThrow("There is no task")
  })

  test("knows all of a task that it has made itself", () => {
    const { run } = begin()
    const details = sampleDetails()
    const task = { taskId: details.id, run: 1, fence: 1 }
    const key = { taskId: details.id, run: 1, kind: "ended" } as const
    const answers = run(
      { op: "task.create", details, entry: RUNNING },
      { op: "step.finish", run: task, key: "a", result: 1 },
      { op: "step.finish", run: task, key: "b", result: 2 },
      apply(details.id),
      { op: "notice.consume", keys: [key], by: null },
      { op: "task.strip", taskId: details.id },
    )
    expect(answers[2]).toMatchObject({ completion: 2 })
    expect(answers[4]).toEqual([key])
  })

  test("undoes the changes since a mark, and nothing else", () => {
    const { set, run } = begin()
    const [first, second] = [sampleDetails({ idempotencyKey: "k" }), sampleDetails({ idempotencyKey: "l" })]
    set.tasks.index.learnKey({ workspace: first.workspace, key: "k" })
    set.tasks.index.learnKey({ workspace: first.workspace, key: "l" })
    run({ op: "task.create", details: first, entry: RUNNING })
    const mark = set.undo.mark()
    run({ op: "task.create", details: second, entry: RUNNING }, apply(first.id))
    set.undo.undoTo(mark)
    expect(set.tables.tasks.find(first.id)?.state.status).toBe("running")
    expect(set.tables.tasks.findByIdempotencyKey(second.workspace, "l")).toBeUndefined()
    expect(set.events.appended()).toHaveLength(2)
    expect(set.notices.changes()).toEqual([])
    run({ op: "task.create", details: second, entry: QUEUED })
    expect(set.tasks.changes().map(({ after }) => after?.task.number)).toEqual([1, 2])
  })

  test("is as it was loaded when all changes are undone", () => {
    const { set, run } = begin()
    const task = learnTask(set)
    run(apply(task.details.id))
    expect(set.tasks.changes()).toHaveLength(1)
    set.undo.undoTo(0)
    expect(set.tasks.changes()).toEqual([])
    expect(set.tables.tasks.find(task.details.id)).toBe(task)
  })

  test("ends a run without looking at its notices", () => {
    const { set, run } = begin()
    run(apply(learnTask(set).details.id))
    expect(set.notices.changes()).toMatchObject([{ before: undefined, after: { state: "pending", task: 70 } }])
  })

  test("supersedes notices, loaded or not", () => {
    const { set, run } = begin()
    const { details } = learnTask(set)
    run(apply(details.id), { op: "task.begin_run", taskId: details.id, afterRun: 1, reason: "retry" })
    expect(set.notices.sweeps()).toEqual([{ sweep: "supersede", task: 70, kind: "ended", at: NOW }])
    expect(set.notices.changes()).toMatchObject([{ after: { state: "superseded", settledAt: NOW } }])
  })

  test("asks for a group and the number of its arrivals together", () => {
    const { set, run } = begin()
    const group = "g" as GroupId
    const { details } = learnTask(set, { group })
    expect(wantedBy(() => run(apply(details.id)))).toEqual(["group", "arrivalCount"])
  })

  test("joins a group by the number of its arrivals, without them", () => {
    const { set, run } = begin()
    const group = "g" as GroupId
    const { details } = learnTask(set, { group })
    const { workspace } = details
    const fixed = { id: group, workspace, session: null, name: "", join: "all", failFast: false } as const
    set.groups.learn(group, {
      ...fixed,
      report: "combined",
      merge: "append",
      state: "sealed",
      createdAt: NOW,
      memberCount: 3,
    })
    set.groups.arrivals.learnCount(group, 2)
    run(apply(details.id))
    expect(set.tables.groups.entryOf(group)).toMatchObject({ state: "joined" })
  })

  test("tells a removed task from a later one with the same id", () => {
    const { set, run } = begin()
    const old = learnTask(set)
    const taskId = old.details.id
    run(apply(taskId), { op: "task.remove", taskId }, { op: "task.create", details: old.details, entry: RUNNING })
    expect(set.tasks.isNew(70)).toBe(false)
    expect(set.tasks.changes()).toMatchObject([{ before: { task: { number: 70 } }, after: { task: { number: 1 } } }])
    expect(set.events.appended().map(({ task }) => task)).toEqual([1, 1])
  })

  test("refuses a task that exists already", () => {
    const { set, run } = begin()
    const { details } = learnTask(set)
    expect(() => run({ op: "task.create", details, entry: RUNNING })).toThrow("There is a task")
  })

  test("gives out each number once, and asks for more", () => {
    const { set } = begin()
    const task: NewTask = learnTask(set)
    const insert = (): number => set.tables.tasks.insert({ ...task, details: sampleDetails() }).number
    expect([insert(), insert(), insert(), insert(), insert()]).toEqual([1, 2, 3, 4, 5])
    expect(insert).toThrow(Missing)
  })
})
