import { describe, expect } from "vitest"
import type { Wake } from "../../task/bus.ts"
import type { Engine } from "../../task/engine.ts"
import type { GroupDetails } from "../../task/group.ts"
import { createSessionId, type GroupId, type TaskId } from "../../task/id.ts"
import {
  applyEvents,
  CANCELLED,
  COMPLETED,
  createEndedTask,
  createTask,
  FAILED,
  QUEUED,
  RUNNING,
  sampleGroup,
  STARTED,
} from "./samples.ts"
import { type EngineTest, expectRefusal, waitUntil } from "./subject.ts"

async function createGroup({ store }: Engine, changes: Partial<GroupDetails> = {}): Promise<GroupId> {
  const details = sampleGroup(changes)
  await store.commit([{ op: "group.create", details }])
  return details.id
}

async function createMember(engine: Engine, group: GroupId): Promise<TaskId> {
  return (await createTask(engine, RUNNING, { group })).id
}

async function seal({ store }: Engine, groupId: GroupId) {
  const [group] = await store.commit([{ op: "group.move", groupId, to: "sealed" }])
  return group
}

export function describeJoins(test: EngineTest): void {
  describe("joins", () => {
    test("the last member that ends joins a sealed group, whatever it ends as", async ({ engine }) => {
      const group = await createGroup(engine)
      const one = await createMember(engine, group)
      const two = await createMember(engine, group)
      const three = await createMember(engine, group)
      await seal(engine, group)
      await applyEvents(engine, one, COMPLETED)
      await applyEvents(engine, two, FAILED)
      expect((await engine.store.group(group))?.state).toBe("sealed")
      await applyEvents(engine, three, { type: "task.stop_requested", by: "person", reason: "enough" }, CANCELLED)
      expect(await engine.store.group(group)).toMatchObject({
        state: "joined",
        arrivals: [{ status: "completed" }, { status: "failed" }, { status: "cancelled" }],
      })
    })

    test("sealing joins a group whose members have ended, and an empty one", async ({ engine }) => {
      const group = await createGroup(engine)
      await createEndedTask(engine, { group })
      expect((await engine.store.group(group))?.state).toBe("open")
      expect((await seal(engine, group)).state).toBe("joined")
      expect((await engine.store.group(group))?.state).toBe("joined")
      expect((await seal(engine, await createGroup(engine))).state).toBe("joined")
    })

    test("a join of any needs one member, a join of n needs n, or all if there are fewer", async ({ engine }) => {
      const any = await createGroup(engine, { join: "any" })
      const first = await createMember(engine, any)
      await createMember(engine, any)
      await createMember(engine, any)
      await seal(engine, any)
      await applyEvents(engine, first, COMPLETED)
      expect((await engine.store.group(any))?.state).toBe("joined")
      const two = await createGroup(engine, { join: 2 })
      const one = await createMember(engine, two)
      const other = await createMember(engine, two)
      await createMember(engine, two)
      await seal(engine, two)
      await applyEvents(engine, one, COMPLETED)
      expect((await engine.store.group(two))?.state).toBe("sealed")
      await applyEvents(engine, other, FAILED)
      expect((await engine.store.group(two))?.state).toBe("joined")
      const nine = await createGroup(engine, { join: 9 })
      const only = await createMember(engine, nine)
      await seal(engine, nine)
      await applyEvents(engine, only, COMPLETED)
      expect((await engine.store.group(nine))?.state).toBe("joined")
    })

    test("members that end at the same moment in two processes join their group once", async ({ engine, another }) => {
      const other = await another()
      const group = await createGroup(engine)
      const members = await Promise.all(Array.from({ length: 10 }, () => createMember(engine, group)))
      await seal(engine, group)
      await Promise.all(members.map((id, index) => applyEvents(index % 2 ? engine : other, id, COMPLETED)))
      expect(await engine.store.group(group)).toMatchObject({ state: "joined", memberCount: 10 })
    })

    test("a member that runs again has not ended, until the group is joined", async ({ engine }) => {
      const group = await createGroup(engine)
      const one = await createMember(engine, group)
      const two = await createMember(engine, group)
      await seal(engine, group)
      await applyEvents(engine, one, FAILED)
      await engine.store.commit([{ op: "task.begin_run", taskId: one, afterRun: 1, reason: "retry" }])
      await applyEvents(engine, two, COMPLETED)
      expect(await engine.store.group(group)).toMatchObject({ state: "sealed", arrivals: [{ taskId: two }] })
      await applyEvents(engine, one, STARTED, FAILED)
      expect(await engine.store.group(group)).toMatchObject({ state: "joined", arrivals: [{ run: 2 }, { run: 1 }] })
      await engine.store.commit([{ op: "task.begin_run", taskId: one, afterRun: 2, reason: "retry" }])
      expect((await engine.store.group(group))?.arrivals).toHaveLength(2)
      await applyEvents(engine, one, STARTED, COMPLETED)
      expect(await engine.store.group(group)).toMatchObject({
        state: "joined",
        arrivals: [{ run: 3, status: "completed" }, { taskId: two }],
      })
    })

    test("a cancelled group is not joined by members that end later", async ({ engine }) => {
      const group = await createGroup(engine)
      const one = await createMember(engine, group)
      await engine.store.commit([{ op: "group.move", groupId: group, to: "cancelled" }])
      await applyEvents(engine, one, COMPLETED)
      expect((await engine.store.group(group))?.state).toBe("cancelled")
    })

    test("a joined group can neither be cancelled nor sealed again", async ({ engine }) => {
      const group = await createGroup(engine)
      await seal(engine, group)
      for (const to of ["sealed", "cancelled"] as const)
        await expectRefusal(engine.store.commit([{ op: "group.move", groupId: group, to }]), "wrong_state")
    })

    test("the bus tells of new members, of ends and of moves, and wakes the session of a joined group", async ({
      engine,
    }) => {
      const session = createSessionId()
      const wakes: Wake[] = []
      const unsubscribe = engine.bus.subscribe((wake) => wakes.push(wake))
      const group = await createGroup(engine, { session })
      const isTold = () => waitUntil(async () => wakes.some((wake) => wake.about === "group" && wake.groupId === group))
      const one = await createMember(engine, group)
      await isTold()
      wakes.length = 0
      await seal(engine, group)
      await isTold()
      wakes.length = 0
      await applyEvents(engine, one, COMPLETED)
      await isTold()
      await waitUntil(async () => wakes.some((wake) => wake.about === "session" && wake.sessionId === session))
      unsubscribe()
    })

    test("groups are found by their fields, newest first, at most as many as asked for", async ({ engine }) => {
      const session = createSessionId()
      const one = await createGroup(engine, { session, name: "one" })
      const two = await createGroup(engine, { session, name: "two", failFast: true, merge: "human_gated" })
      const three = await createGroup(engine, { name: "three" })
      await createTask(engine, QUEUED, { group: two })
      await seal(engine, one)
      const find = async (...question: Parameters<typeof engine.store.groups>) =>
        (await engine.store.groups(...question)).map(({ id }) => id)
      expect(new Set(await find({}, 9))).toEqual(new Set([one, two, three]))
      expect(await find({}, 2)).toHaveLength(2)
      expect(new Set(await find({ session }, 9))).toEqual(new Set([one, two]))
      expect(await find({ session: null }, 9)).toEqual([three])
      expect(await find({ session, states: ["joined"] }, 9)).toEqual([one])
      expect(new Set(await find({ states: ["open", "sealed"] }, 9))).toEqual(new Set([two, three]))
      expect(await find({ name: "two" }, 9)).toEqual([two])
      expect(await find({ idPrefix: three.slice(0, 20) }, 9)).toEqual([three])
      expect(await find({ failFast: true }, 9)).toEqual([two])
      expect(await find({ merge: "human_gated" }, 9)).toEqual([two])
      expect(await find({ workspace: "elsewhere" as never }, 9)).toEqual([])
      expect(await find({ withoutTask: "of/" }, 9)).toEqual([two])
      await createTask(engine, QUEUED, { idempotencyKey: `of/${two}` })
      expect(await find({ withoutTask: "of/" }, 9)).toEqual([])
      expect(await find({ withoutTask: "for/" }, 9)).toEqual([two])
      expect((await engine.store.groups({ session, states: ["open"] }, 9))[0]).toEqual(await engine.store.group(two))
    })
  })
}
