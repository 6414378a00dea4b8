import { describe, expect } from "vitest"
import { createSessionId, DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { Page, SessionFilter } from "../../task/store.ts"
import { createSession } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

const OTHER = "other" as WorkspaceId

const id = createSessionId
const idsOf = ({ items }: Page<SessionRecord>): readonly SessionId[] => items.map((session) => session.id)

export function describeSessionLists(test: EngineTest): void {
  describe("lists of sessions", () => {
    test("are listed by their last change, page by page, in their workspace only", async ({ engine: { store } }) => {
      const again = createSessionId()
      const ids = [createSessionId(), again, createSessionId(), createSessionId()]
      for (const id of ids) await store.commit([{ op: "session.create", id, workspace: DEFAULT_WORKSPACE, data: {} }])
      const elsewhere = { id: createSessionId(), workspace: "elsewhere" as WorkspaceId }
      await store.commit([{ op: "session.create", ...elsewhere, data: {} }])
      await store.commit([{ op: "session.update", id: again, expectedVersion: 1, messages: ["again"] }])
      const { items } = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
      expect(items.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
      const times = items.map(({ updatedAt }) => updatedAt)
      expect(times).toEqual(times.toSorted((one, other) => other - one))
      const first = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 3 })
      const rest = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 3, cursor: first.cursor ?? "" })
      expect([...first.items, ...rest.items]).toEqual(items)
      expect(rest.cursor).toBeUndefined()
      await expectRefusal(store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 0 }), "invalid_input")
    })

    test("are found by the session above them, and those with none by null", async ({ engine: { store } }) => {
      const workspace = DEFAULT_WORKSPACE
      const [main, child, grandchild, other] = [id(), id(), id(), id()]
      const create = (one: SessionId, parent: SessionId | null) =>
        store.commit([{ op: "session.create", id: one, workspace, parent, data: {} }])
      await create(main, null)
      await create(child, main)
      await create(grandchild, child)
      await create(other, null)
      const found = async (filter: Omit<SessionFilter, "workspace">) =>
        idsOf(await store.sessions({ workspace, ...filter }, { limit: 10 })).toSorted()
      expect(await found({ parent: main })).toEqual([child])
      expect(await found({ parent: child })).toEqual([grandchild])
      expect(await found({ parent: other })).toEqual([])
      expect(await found({ parent: null })).toEqual([main, other].toSorted())
      expect(await found({})).toHaveLength(4)
      expect(idsOf(await store.sessions({ workspace: OTHER, parent: main }, { limit: 10 }))).toEqual([])
      expect(await store.session(child)).toMatchObject({ parent: main })
    })

    test("have labels, which change beside a turn, and by which they are found", async ({ engine, reopen }) => {
      const [anna, ben] = [await createSession(engine), await createSession(engine)]
      const label = (one: SessionId, metadata: Record<string, string | null>, title?: string | null) =>
        engine.store.commit([{ op: "session.label", id: one, metadata, ...(title !== undefined && { title }) }])
      const [labelled] = await label(anna, { userId: "anna", tier: "free" }, "Bread")
      expect(labelled).toMatchObject({ version: 1, metadata: { userId: "anna", tier: "free" }, title: "Bread" })
      await label(ben, { userId: "ben", tier: "free" })
      await engine.store.commit([{ op: "session.update", id: anna, expectedVersion: 1, messages: ["hi"] }])
      await label(anna, { tier: null, plan: "paid" })
      const { store } = await reopen()
      const record = await store.session(anna)
      expect(record).toMatchObject({ version: 2, metadata: { userId: "anna", plan: "paid" }, title: "Bread" })
      const found = async (metadata: Record<string, string>) =>
        idsOf(await store.sessions({ workspace: DEFAULT_WORKSPACE, metadata }, { limit: 10 }))
      expect(await found({ userId: "anna" })).toEqual([anna])
      expect(await found({ userId: "anna", plan: "paid" })).toEqual([anna])
      expect(await found({ userId: "ben", plan: "paid" })).toEqual([])
      expect(await found({ tier: "free" })).toEqual([ben])
      expect(await found({ userId: "ann" })).toEqual([])
      expect(await found({})).toHaveLength(2)
      await store.commit([{ op: "session.delete", id: anna }])
      expect(await found({ userId: "anna" })).toEqual([])
      await store.commit([{ op: "session.label", id: ben, title: null }])
      expect(await store.session(ben)).toMatchObject({ metadata: { userId: "ben" }, title: null })
      await expectRefusal(store.commit([{ op: "session.label", id: anna, title: "gone" }]), "not_found")
      expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })

    for (const metadata of [undefined, { userId: "anna" }, { userId: "anna", tier: "free" }])
      test(`pages of ${JSON.stringify({ metadata })} stay as they are while sessions are added`, async ({ engine }) => {
        const { store } = engine
        const workspace = DEFAULT_WORKSPACE
        const labels = { userId: "anna", tier: "free" }
        const add = async (): Promise<SessionId> => {
          const [{ id: added }] = await store.commit([
            { op: "session.create", id: id(), workspace, metadata: labels, data: {} },
            { op: "session.create", id: id(), workspace, metadata: { userId: "ben", tier: "free" }, data: {} },
          ])
          return added
        }
        const ids: SessionId[] = []
        for (let count = 0; count < 7; count++) ids.push(await add())
        const filter = { workspace, ...(metadata && { metadata }) }
        const seen: SessionId[] = []
        let cursor: string | undefined
        do {
          const page = await store.sessions(filter, { limit: 2, ...(cursor && { cursor }) })
          seen.push(...idsOf(page))
          cursor = page.cursor
          await add()
        } while (cursor)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.filter((one) => ids.includes(one)).toSorted()).toEqual(ids.toSorted())
        expect(seen).toHaveLength(metadata ? 7 : 14)
      })

    test("that have not changed since a time are found, in each workspace", async ({ engine }) => {
      const { store } = engine
      const first = await createSession(engine)
      const changedAt = (await store.session(first))?.updatedAt ?? Number.NaN
      const found = async (changedBefore: number) =>
        idsOf(await store.sessions({ workspace: DEFAULT_WORKSPACE, changedBefore }, { limit: 10 }))
      expect(await found(changedAt)).toEqual([])
      expect(await found(changedAt + 1)).toEqual([first])
      const elsewhere = { id: id(), workspace: OTHER, data: {} }
      await store.commit([{ op: "session.create", ...elsewhere }])
      await store.commit([{ op: "session.create", ...elsewhere, id: id() }])
      expect(await store.sessionWorkspaces(null, 10)).toEqual([DEFAULT_WORKSPACE, OTHER])
      expect(await store.sessionWorkspaces(null, 1)).toEqual([DEFAULT_WORKSPACE])
      expect(await store.sessionWorkspaces(DEFAULT_WORKSPACE, 10)).toEqual([OTHER])
      expect(await store.sessionWorkspaces(OTHER, 10)).toEqual([])
    })
  })
}
