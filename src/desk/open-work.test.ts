import { expect, test } from "vitest"
import { createManualClock } from "../base/manual-clock.ts"
import { createEmbeddedEngine } from "../engine/embedded/engine.ts"
import { IN_MEMORY } from "../engine/embedded/open.ts"
import { createTask } from "../engine/suite/samples.ts"
import type { TaskService } from "../plugin/task-service.ts"
import { DEFAULT_WORKSPACE, type TaskId } from "../task/id.ts"
import type { TaskFilter } from "../task/store.ts"
import { hasOpenWork } from "./open-work.ts"

test("the look for open work reads no further than the page with the first open task", async () => {
  await using engine = await createEmbeddedEngine({ path: IN_MEMORY, clock: createManualClock() })
  const ids: TaskId[] = []
  for (let count = 0; count < 1_200; count++) ids.push((await createTask(engine)).id)
  let pages = 0
  const list: TaskService["list"] = async (filter, page = {}) => {
    pages += 1
    return engine.store.tasks(filter as TaskFilter, { limit: 500, ...page })
  }
  const scope = { workspace: DEFAULT_WORKSPACE, store: engine.store, tasks: { list, workers: async () => [] } }
  const look = async (held: readonly TaskId[]) => {
    pages = 0
    const byQuestion = async () => new Map(held.map((id) => [id, []]))
    return { isOpen: await hasOpenWork(scope, { byQuestion }), pages }
  }
  expect(await look([])).toEqual({ isOpen: true, pages: 1 })
  expect(await look(ids.slice(600))).toEqual({ isOpen: true, pages: 2 })
  expect(await look(ids)).toEqual({ isOpen: false, pages: 3 })
})
