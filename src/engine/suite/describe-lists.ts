import { describe, expect } from "vitest"
import type { Engine } from "../../task/engine.ts"
import {
  createGroupId,
  createSessionId,
  createTaskId,
  createWorkerId,
  DEFAULT_WORKSPACE,
  type WorkspaceId,
} from "../../task/id.ts"
import type { TaskFilter } from "../../task/store.ts"
import {
  applyEvents,
  CANCELLED,
  createEndedTask,
  createTask,
  QUEUED,
  RUNNING,
  sampleGroup,
  sampleWait,
  WORKER,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeLists(test: EngineTest): void {
  describe("lists of tasks", () => {
    test("come newest first, without the fields that may be large", async ({ engine }) => {
      const one = await createTask(engine)
      const two = await createEndedTask(engine)
      const three = await createTask(engine, { as: "waiting", wait: sampleWait() })
      const { items, cursor } = await engine.store.tasks({}, { limit: 10 })
      expect(items.map(({ id }) => id)).toEqual([three.id, two.id, one.id])
      expect(cursor).toBeUndefined()
      for (const item of items) {
        expect(item).not.toHaveProperty("input")
        expect(item).not.toHaveProperty("metadata")
        expect(item).not.toHaveProperty("patch")
      }
      const { input: _input, metadata: _metadata, ...summary } = three
      expect(items[0]).toEqual(summary)
    })

    test("every field of a filter must match", async ({ engine }) => {
      const workspace = "other" as WorkspaceId
      const group = sampleGroup({ workspace })
      await engine.store.commit([{ op: "group.create", details: group }])
      const worker = createWorkerId()
      const common = { workspace, session: createSessionId(), batch: "b", group: group.id, plugin: "mcp", tool: "go" }
      const details = {
        ...common,
        parentTask: createTaskId(),
        kind: "agent",
        lifetime: "forever",
        inputHeldBy: worker,
        idempotencyKey: "key",
        askedBy: { taskId: createTaskId(), run: 2, key: "step" },
      } as const
      const { id } = await createTask(engine, { as: "running", worker }, details)
      await createTask(engine)
      const { parentTask, kind, lifetime, inputHeldBy, idempotencyKey, askedBy } = details
      const whole = {
        ...common,
        parentTask,
        inputHeldBy,
        idempotencyKey,
        askedBy,
        kinds: [kind],
        lifetimes: [lifetime],
      }
      const filter: TaskFilter = { ...whole, statuses: ["running"], worker, isStripped: false }
      const others: Required<TaskFilter> = {
        workspace: "third" as WorkspaceId,
        session: createSessionId(),
        statuses: ["queued", "failed"],
        kinds: ["tool", "turn"],
        plugin: "shell",
        tool: "stop",
        parentTask: createTaskId(),
        group: createGroupId(),
        batch: "c",
        idempotencyKey: "other",
        askedBy: { ...askedBy, key: "another" },
        lifetimes: ["turn"],
        worker: WORKER,
        inputHeldBy: WORKER,
        consumedBefore: Number.MAX_SAFE_INTEGER,
        isConsumed: false,
        isStripped: true,
        endedAfter: 0,
      }
      expect(await idsOf(engine, filter)).toEqual([id])
      for (const part of toParts(filter)) expect(await idsOf(engine, { [part]: filter[part] })).toContain(id)
      for (const part of toParts(others)) {
        const unmet = { ...filter, [part]: others[part] }
        expect(await idsOf(engine, unmet)).toEqual([])
        expect(await engine.store.countTasks(unmet)).toBe(0)
      }
      expect(await idsOf(engine, { askedBy: { ...askedBy, run: 1 } })).toEqual([])
      expect(await engine.store.countTasks(filter)).toBe(1)
    })

    test("without a session are found by null", async ({ engine }) => {
      const { id } = await createTask(engine)
      await createTask(engine, QUEUED, { session: createSessionId() })
      expect(await idsOf(engine, { session: null })).toEqual([id])
    })

    test("that ended after a time are found, whatever they ended as", async ({ engine }) => {
      const first = await createEndedTask(engine)
      await createTask(engine)
      await createTask(engine, RUNNING)
      const endedAt = "endedAt" in first ? first.endedAt : Number.NaN
      expect(await idsOf(engine, { endedAfter: endedAt - 1 })).toEqual([first.id])
      expect(await idsOf(engine, { endedAfter: endedAt })).toEqual([])
      const cancelled = await createTask(engine)
      await applyEvents(engine, cancelled.id, CANCELLED)
      const session = createSessionId()
      const other = await createEndedTask(engine, { session })
      expect(await idsOf(engine, { endedAfter: 0 })).toEqual([other.id, cancelled.id, first.id])
      expect(await idsOf(engine, { endedAfter: 0, session })).toEqual([other.id])
      await createEndedTask(engine, { session, kind: "turn" })
      for (const whose of [{ session }, { workspace: DEFAULT_WORKSPACE }, { session, workspace: DEFAULT_WORKSPACE }]) {
        const work = { ...whose, endedAfter: 0, kinds: ["tool", "agent"] } as const
        const own = "session" in whose ? [other.id] : [other.id, cancelled.id, first.id]
        expect(await idsOf(engine, work)).toEqual(own)
        expect(await idsOf(engine, { ...work, statuses: ["completed"] })).toEqual(
          own.filter((id) => id !== cancelled.id),
        )
        expect(await idsOf(engine, { ...work, kinds: ["agent"] })).toEqual([])
        expect(await engine.store.countTasks(work)).toBe(own.length)
      }
      expect(await idsOf(engine, { endedAfter: 0, statuses: ["cancelled"] })).toEqual([cancelled.id])
      expect(await engine.store.countTasks({ endedAfter: 0 })).toBe(4)
    })

    test("several statuses come as one list, newest first", async ({ engine }) => {
      const ids = []
      for (let count = 0; count < 9; count++) {
        const { id } = await createTask(engine, count % 3 === 0 ? RUNNING : QUEUED)
        if (count % 3 === 1) await applyEvents(engine, id, CANCELLED)
        if (count % 3 !== 2) ids.unshift(id)
      }
      expect(await idsOf(engine, { statuses: ["cancelled", "running"] })).toEqual(ids)
      expect(await idsOf(engine, { statuses: ["failed"] })).toEqual([])
      expect(await idsOf(engine, { statuses: [] })).toEqual([])
      expect(await engine.store.countTasks({ statuses: ["cancelled", "running"] })).toBe(6)
    })

    for (const filter of [{}, { workspace: "paged" }, { statuses: ["queued"] }, { session: "paged" }] as TaskFilter[])
      test(`pages of ${JSON.stringify(filter)} stay as they are while tasks are added`, async ({ engine }) => {
        const details = { workspace: "paged" as WorkspaceId, session: "paged" as ReturnType<typeof createSessionId> }
        const ids = []
        for (let count = 0; count < 7; count++) ids.unshift((await createTask(engine, QUEUED, details)).id)
        const seen = []
        let cursor: string | undefined
        do {
          const page = await engine.store.tasks(filter, { limit: 3, ...(cursor && { cursor }) })
          expect(page.items.length).toBeLessThanOrEqual(3)
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.cursor
          await createTask(engine, QUEUED, details)
        } while (cursor)
        expect(seen).toEqual(ids)
      })

    test("pages by use list every task once, however many were used at the same time", async ({ engine }) => {
      const ids = []
      for (let count = 0; count < 7; count++) ids.push((await createEndedTask(engine, { kind: "turn" })).id)
      const later = { consumedBefore: Number.MAX_SAFE_INTEGER }
      for (const filter of [later, { ...later, isStripped: false }, { ...later, session: null }]) {
        const seen = []
        let cursor: string | undefined
        do {
          const page = await engine.store.tasks(filter, { limit: 2, ...(cursor && { cursor }) })
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.cursor
        } while (cursor)
        expect(seen).toEqual(ids)
      }
    })

    test("a page without items and a malformed cursor are refused", async ({ engine }) => {
      await expectRefusal(engine.store.tasks({}, { limit: 0 }), "invalid_input")
      await expectRefusal(engine.store.tasks({}, { limit: 1, cursor: "nonsense" }), "invalid_input")
    })
  })
}

function toParts(filter: TaskFilter): readonly (keyof TaskFilter)[] {
  return Object.keys(filter) as (keyof TaskFilter)[]
}

async function idsOf({ store }: Engine, filter: TaskFilter): Promise<readonly string[]> {
  return (await store.tasks(filter, { limit: 100 })).items.map(({ id }) => id)
}
