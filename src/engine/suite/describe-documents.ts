import { createHash } from "node:crypto"
import { describe, expect } from "vitest"
import { createTaskId, DEFAULT_WORKSPACE, type ArtifactHash, type WorkspaceId } from "../../task/id.ts"
import { applyEvents, createEndedTask, createTask, PATCH, RUNNING } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

const OTHER = "other" as WorkspaceId

export function describeDocuments(test: EngineTest): void {
  describe("documents", () => {
    test("are written at the version that was read", async ({ engine, reopen }) => {
      const [first] = await engine.store.commit([put("a", { n: 1 }, 0)])
      expect(first).toMatchObject({
        workspace: DEFAULT_WORKSPACE,
        collection: "keys",
        id: "a",
        version: 1,
        value: { n: 1 },
      })
      const [second] = await engine.store.commit([put("a", [2], 1)])
      expect(second).toMatchObject({ version: 2, value: [2] })
      await expectRefusal(engine.store.commit([put("a", 3, 1)]), "version_conflict")
      await expectRefusal(engine.store.commit([put("a", 3, 0)]), "version_conflict")
      await expectRefusal(engine.store.commit([put("b", 3, 1)]), "version_conflict")
      expect(await (await reopen()).store.document(DEFAULT_WORKSPACE, "keys", "a")).toEqual(second)
    })

    test("are listed by collection within their workspace and deleted", async ({ engine }) => {
      await engine.store.commit([
        put("b", 2, 0),
        put("a", 1, 0),
        { ...put("a", 9, 0), workspace: OTHER },
        { ...put("a", 9, 0), collection: "other" },
      ])
      const ids = (await engine.store.documents(DEFAULT_WORKSPACE, "keys")).map(({ id }) => id)
      expect(ids).toEqual(["a", "b"])
      await engine.store.commit([put("a/x", 3, 0), put("a/y", 4, 0), put("A", 5, 0)])
      const ofPrefix = await engine.store.documents(DEFAULT_WORKSPACE, "keys", "a/")
      expect(ofPrefix.map(({ id, value }) => [id, value])).toEqual([
        ["a/x", 3],
        ["a/y", 4],
      ])
      const remove = { op: "document.delete", workspace: DEFAULT_WORKSPACE, collection: "keys", id: "a" } as const
      expect(await engine.store.commit([remove, remove])).toEqual([null, null])
      expect(await engine.store.document(DEFAULT_WORKSPACE, "keys", "a")).toBeUndefined()
      expect(await engine.store.document(OTHER, "keys", "a")).toMatchObject({ value: 9 })
    })
  })

  describe("artifacts", () => {
    const bytes = new Uint8Array([0, 1, 2, 255])
    const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}` as ArtifactHash

    test("are kept by hash within their workspace", async ({ engine, reopen }) => {
      const artifact = { workspace: DEFAULT_WORKSPACE, taskId: null, mediaType: "image/png", bytes }
      const put = { op: "artifact.put", ...artifact } as const
      expect(await engine.store.commit([put])).toEqual([hash])
      expect(await engine.store.commit([put])).toEqual([hash])
      const found = await (await reopen()).store.artifact(DEFAULT_WORKSPACE, hash)
      expect(found).toMatchObject({ workspace: DEFAULT_WORKSPACE, hash, taskId: null, mediaType: "image/png" })
      expect(new Uint8Array(found?.bytes ?? [])).toEqual(bytes)
    })

    test("do not cross workspaces", async ({ engine }) => {
      const artifact = { workspace: DEFAULT_WORKSPACE, taskId: null, mediaType: "image/png", bytes }
      await engine.store.commit([{ op: "artifact.put", ...artifact }])
      expect(await engine.store.artifact(OTHER, hash)).toBeUndefined()
    })

    test("stay as long as one task that put them exists", async ({ engine }) => {
      const [one, two] = [await createEndedTask(engine), await createEndedTask(engine)]
      const artifact = { workspace: DEFAULT_WORKSPACE, mediaType: "image/png", bytes }
      for (const { id } of [one, two]) await engine.store.commit([{ op: "artifact.put", ...artifact, taskId: id }])
      expect(await engine.store.artifact(DEFAULT_WORKSPACE, hash)).toMatchObject({ taskId: one.id })
      await engine.store.commit([{ op: "task.remove", taskId: one.id }])
      expect(await engine.store.artifact(DEFAULT_WORKSPACE, hash)).toMatchObject({ taskId: two.id })
      await engine.store.commit([{ op: "task.remove", taskId: two.id }])
      expect(await engine.store.artifact(DEFAULT_WORKSPACE, hash)).toBeUndefined()
    })

    test("stay as long as a task exists that handed them back, whoever put them", async ({ engine }) => {
      const [putter, heir] = [await createEndedTask(engine), await createTask(engine, RUNNING)]
      const artifact = { workspace: DEFAULT_WORKSPACE, mediaType: "image/png", bytes }
      await engine.store.commit([{ op: "artifact.put", ...artifact, taskId: putter.id }])
      const reference = { hash, name: "dot", mediaType: "image/png", bytes: 4 }
      const others = [
        { ...reference, hash: `sha256:${"0".repeat(64)}` },
        { ...reference, hash: "none\0" },
        { ...reference, hash: "" },
      ]
      const artifacts = [reference, reference, ...others].map((one) => ({ ...one, hash: one.hash as ArtifactHash }))
      await applyEvents(engine, heir.id, { type: "task.completed", patch: { ...PATCH, artifacts } })
      await engine.store.commit([{ op: "task.strip", taskId: heir.id }])
      await engine.store.commit([{ op: "task.remove", taskId: putter.id }])
      expect(await engine.store.artifact(DEFAULT_WORKSPACE, hash)).toMatchObject({ taskId: heir.id })
      await engine.store.commit([{ op: "task.remove", taskId: heir.id }])
      expect(await engine.store.artifact(DEFAULT_WORKSPACE, hash)).toBeUndefined()
    })

    test("of a task that does not exist are refused", async ({ engine }) => {
      await createTask(engine)
      const artifact = { workspace: DEFAULT_WORKSPACE, mediaType: "text/plain", bytes }
      await expectRefusal(
        engine.store.commit([{ op: "artifact.put", ...artifact, taskId: createTaskId() }]),
        "not_found",
      )
      expect(await engine.store.artifact(DEFAULT_WORKSPACE, hash)).toBeUndefined()
    })
  })
}

function put(id: string, value: JsonLike, expectedVersion: number) {
  return { op: "document.put", workspace: DEFAULT_WORKSPACE, collection: "keys", id, value, expectedVersion } as const
}

type JsonLike = number | readonly number[] | { readonly n: number }
