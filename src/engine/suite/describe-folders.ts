import { describe, expect } from "vitest"
import type { TakeRequest } from "../../task/dispatcher.ts"
import type { TaskId } from "../../task/id.ts"
import type { TaskDetails } from "../../task/record.ts"
import { createTask, QUEUED, WORKER } from "./samples.ts"
import type { EngineTest } from "./subject.ts"

const REQUEST: TakeRequest = {
  worker: WORKER,
  limit: 3,
  kinds: ["tool"],
  plugins: ["shell"],
  fullSessions: [],
  fullModels: [],
  fullWorkspaces: [],
}
const MISSING = [{ plugin: "shell", tool: "run_command", folder: "/there" }]

export function describeFolders(test: EngineTest): void {
  describe("a folder that a task names", () => {
    test("keeps its task from a worker that does not have the folder, but not the tasks behind it", async ({
      engine,
    }) => {
      for (let index = 0; index < 20; index++) await createTask(engine, QUEUED, { folder: "/there", priority: 1 })
      const ids: TaskId[] = []
      const others: Partial<TaskDetails>[] = [{ folder: "/here" }, { folder: "/there", tool: "edit" }, {}]
      for (const changes of others) ids.push((await createTask(engine, QUEUED, changes)).id)
      const take = async (request: Partial<TakeRequest>) =>
        (await engine.dispatcher.take({ ...REQUEST, ...request })).map(({ taskId }) => taskId)
      expect(await take({ missing: MISSING })).toEqual(ids)
      expect(await take({ missing: MISSING, only: { sessions: [], tasks: ids } })).toEqual(ids)
      expect(await take({ missing: [], limit: 30 })).toHaveLength(23)
    })

    test("is stored, and part of the offer", async ({ engine }) => {
      const { id } = await createTask(engine, QUEUED, { folder: "/there" })
      expect(await engine.dispatcher.take(REQUEST)).toMatchObject([{ tool: "run_command", folder: "/there" }])
      expect(await engine.store.task(id)).toMatchObject({ folder: "/there" })
      const { items } = await engine.store.tasks({}, { limit: 1 })
      expect(items).toMatchObject([{ folder: "/there" }])
    })
  })
}
