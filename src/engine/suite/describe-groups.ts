import { describe, expect } from "vitest"
import type { GroupMembership } from "../../task/group.ts"
import { createGroupId } from "../../task/id.ts"
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
  sampleWait,
  STARTED,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeGroups(test: EngineTest): void {
  describe("groups", () => {
    test("keep their details and begin open and empty", async ({ engine }) => {
      const details = sampleGroup({ join: 2, failFast: true, report: "each", merge: "human_gated" })
      const [group] = await engine.store.commit([{ op: "group.create", details }])
      expect(group).toMatchObject({ ...details, state: "open", memberCount: 0, arrivals: [] })
      expect(await engine.store.group(details.id)).toEqual(group)
      expect(await engine.store.group(createGroupId())).toBeUndefined()
    })

    test("count members as they are created and arrivals as they end", async ({ engine }) => {
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      const group = details.id
      const one = await createEndedTask(engine, { group })
      const two = await createTask(engine, RUNNING, { group })
      expect(await engine.store.group(group)).toMatchObject({
        memberCount: 2,
        arrivals: [{ taskId: one.id, run: 1, status: "completed" }],
      })
      await applyEvents(engine, two.id, FAILED)
      expect((await engine.store.group(group))?.arrivals).toHaveLength(2)
      expect((await engine.store.tasks({ group }, { limit: 9 })).items).toHaveLength(2)
    })

    test("are not moved when their members have changed since they were read", async ({ engine }) => {
      const { store } = engine
      const details = sampleGroup()
      const [empty] = await store.commit([{ op: "group.create", details }])
      const cancel = (ifMembers: GroupMembership) =>
        store.commit([{ op: "group.move", groupId: details.id, to: "cancelled", ifMembers }])
      const { id } = await createTask(engine, RUNNING, { group: details.id })
      await expectRefusal(cancel(empty), "wrong_state")
      const entered = await store.group(details.id)
      await applyEvents(engine, id, FAILED)
      await expectRefusal(cancel(entered ?? empty), "wrong_state")
      const ended = await store.group(details.id)
      await store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      await expectRefusal(cancel(ended ?? empty), "wrong_state")
      await cancel((await store.group(details.id)) ?? empty)
      expect((await store.group(details.id))?.state).toBe("cancelled")
    })

    test("a member that is retried counts once", async ({ engine }) => {
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      const { id } = await createTask(engine, RUNNING, { group: details.id })
      await applyEvents(engine, id, FAILED)
      await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      await applyEvents(engine, id, STARTED, COMPLETED)
      expect(await engine.store.group(details.id)).toMatchObject({
        memberCount: 1,
        arrivals: [{ taskId: id, run: 2, status: "completed" }],
      })
    })

    test("members that end together all arrive", async ({ engine, another }) => {
      const other = await another()
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      const members = await Promise.all(
        Array.from({ length: 10 }, () => createTask(engine, RUNNING, { group: details.id })),
      )
      await Promise.all(members.map(({ id }, index) => applyEvents(index % 2 ? engine : other, id, COMPLETED)))
      expect((await engine.store.group(details.id))?.arrivals).toHaveLength(10)
    })

    test("that report nothing get silent notices of ends, but not of what a member asks", async ({ engine }) => {
      const details = sampleGroup({ report: "none" })
      await engine.store.commit([{ op: "group.create", details }])
      const { id } = await createTask(engine, RUNNING, { group: details.id })
      await applyEvents(engine, id, { type: "task.waited", wait: sampleWait({ reason: "person" }) })
      expect(await engine.store.notices({ taskId: id }, 9)).toMatchObject([{ kind: "needs_answer", notify: "wake" }])
      await applyEvents(engine, id, CANCELLED)
      const ended = await engine.store.notices({ taskId: id, states: ["pending"] }, 9)
      expect(ended).toMatchObject([{ kind: "ended", notify: "silent" }])
      expect((await engine.store.task(id))?.notify).toBe("wake")
    })

    test("a sealed group takes no more members", async ({ engine }) => {
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      await createTask(engine, RUNNING, { group: details.id })
      const [sealed] = await engine.store.commit([{ op: "group.move", groupId: details.id, to: "sealed" }])
      expect(sealed.state).toBe("sealed")
      await expectRefusal(createTask(engine, QUEUED, { group: details.id }), "wrong_state")
      expect(await engine.store.group(details.id)).toMatchObject({ state: "sealed", memberCount: 1 })
    })

    test("move only along their states", async ({ engine }) => {
      const details = sampleGroup()
      const move = (to: "sealed" | "cancelled") => engine.store.commit([{ op: "group.move", groupId: details.id, to }])
      await expectRefusal(move("sealed"), "not_found")
      await engine.store.commit([{ op: "group.create", details }])
      await createTask(engine, RUNNING, { group: details.id })
      await move("sealed")
      await expectRefusal(move("sealed"), "wrong_state")
      await move("cancelled")
      await expectRefusal(move("sealed"), "wrong_state")
      await expectRefusal(move("cancelled"), "wrong_state")
      expect((await engine.store.group(details.id))?.state).toBe("cancelled")
    })

    test("with an id that is taken are refused", async ({ engine }) => {
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      await expectRefusal(engine.store.commit([{ op: "group.create", details }]), "invalid_input")
    })

    test("forget a member that is removed", async ({ engine }) => {
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      const { id } = await createEndedTask(engine, { group: details.id })
      await engine.store.commit([{ op: "task.remove", taskId: id }])
      expect(await engine.store.group(details.id)).toMatchObject({ memberCount: 0, arrivals: [] })
    })

    test("without a session are removed with their last member once they are finished", async ({ engine }) => {
      const details = sampleGroup()
      await engine.store.commit([{ op: "group.create", details }])
      const one = await createEndedTask(engine, { group: details.id })
      const two = await createEndedTask(engine, { group: details.id })
      await engine.store.commit([{ op: "group.move", groupId: details.id, to: "sealed" }])
      await engine.store.commit([{ op: "task.remove", taskId: one.id }])
      expect(await engine.store.group(details.id)).toMatchObject({ state: "joined", memberCount: 1 })
      await engine.store.commit([{ op: "task.remove", taskId: two.id }])
      expect(await engine.store.group(details.id)).toBeUndefined()
    })
  })
}
