import { describe, expect } from "vitest"
import { createSessionId, type WorkspaceId } from "../../task/id.ts"
import { createSession, createTask, QUEUED, RUNNING, sampleGroup } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeWorkspaces(test: EngineTest): void {
  describe("workspaces", () => {
    test("a task in another workspace than its group, its session or its asking run is refused", async ({ engine }) => {
      const workspace = "other" as WorkspaceId
      const group = sampleGroup()
      await engine.store.commit([{ op: "group.create", details: group }])
      const session = await createSession(engine)
      const asking = await createTask(engine, RUNNING)
      const askedBy = { taskId: asking.id, run: 1, key: "call" }
      await createTask(engine, QUEUED, { askedBy })
      for (const changes of [{ group: group.id }, { session }, { askedBy }]) {
        await expectRefusal(createTask(engine, QUEUED, { workspace, ...changes }), "not_found")
      }
      expect(await engine.store.countTasks({ workspace })).toBe(0)
      expect((await engine.store.group(group.id))?.memberCount).toBe(0)
      const unknown = createSessionId()
      expect(await createTask(engine, QUEUED, { workspace, session: unknown })).toMatchObject({ session: unknown })
    })

    test("a group in another workspace than its session is refused", async ({ engine }) => {
      const session = await createSession(engine)
      const details = sampleGroup({ workspace: "other" as WorkspaceId, session })
      await expectRefusal(engine.store.commit([{ op: "group.create", details }]), "not_found")
      expect(await engine.store.group(details.id)).toBeUndefined()
    })
  })
}
