import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import { createSessionId, DEFAULT_WORKSPACE } from "../../task/id.ts"
import { createEmbeddedEngine } from "./engine.ts"
import { IN_MEMORY } from "./open.ts"

test("a store in memory holds what was committed, takes back what was refused, and leaves no file", async () => {
  await using engine = await createEmbeddedEngine({ path: IN_MEMORY })
  const id = createSessionId()
  await engine.store.commit([{ op: "session.create", id, workspace: DEFAULT_WORKSPACE, data: { name: "a" } }])
  const refused = engine.store.commit([
    { op: "session.update", id, expectedVersion: 1, data: { name: "b" }, messages: [] },
    { op: "session.update", id, expectedVersion: 1, data: { name: "c" }, messages: [] },
  ])
  await expect(refused).rejects.toMatchObject({ code: "version_conflict" })
  expect((await engine.store.session(id))?.data).toEqual({ name: "a" })
  expect(existsSync(IN_MEMORY)).toBe(false)
})

test("two stores in memory know nothing of each other", async () => {
  await using one = await createEmbeddedEngine({ path: IN_MEMORY })
  await using other = await createEmbeddedEngine({ path: IN_MEMORY })
  const id = createSessionId()
  await one.store.commit([{ op: "session.create", id, workspace: DEFAULT_WORKSPACE, data: {} }])
  expect(await other.store.session(id)).toBeUndefined()
})
