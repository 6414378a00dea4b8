import { beforeAll, describe, expect, test } from "vitest"
import { createSessionId, DEFAULT_WORKSPACE } from "../../../task/id.ts"
import type { Operation } from "../../../task/operation.ts"
import {
  complete,
  create,
  sampleGroup,
  useWritingStore,
  type Writing,
} from "../../../../test/support/postgres/writing.ts"
import { QUEUED, STARTED, toEndedNotice } from "../../suite/samples.ts"

const { open } = useWritingStore()
let writings: readonly [Writing, Writing, Writing]

/** Without their locks, three processes got most rounds wrong: a few dozen rounds never pass by chance. */
const ROUNDS = Array.from({ length: 25 }, (_, round) => round)

beforeAll(async () => {
  writings = [await open(), await open(), await open()]
})

/** Does the work in all processes at the same moment, and returns the results of those that were not refused. */
async function race<Result>(toWork: (writing: Writing, index: number) => Promise<Result>): Promise<readonly Result[]> {
  const outcomes = await Promise.allSettled(writings.map(toWork))
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
}

describe("of three processes that race", () => {
  test("for a notice one claims it, and the store says which", async () => {
    const [{ commit, store }] = writings
    const claimants = writings.map(() => create())
    await commit([...claimants])
    const toClaimant = (index: number) => ({
      taskId: claimants[index]?.details.id ?? create().details.id,
      run: 1,
      key: "model",
    })
    for (const _ of ROUNDS) {
      const ended = create()
      await commit([ended])
      await commit([complete(ended.details.id)])
      const key = toEndedNotice({ id: ended.details.id, run: 1 })
      const claims = await race(async (writing, index) => {
        const [keys] = await writing.commit([{ op: "notice.claim", keys: [key], by: toClaimant(index) }])
        return { index, hasIt: keys.length === 1 }
      })
      const winners = claims.filter(({ hasIt }) => hasIt)
      expect(claims).toHaveLength(writings.length)
      expect(winners).toHaveLength(1)
      const claimedBy = toClaimant(winners[0]?.index ?? -1)
      expect(await store.notices({ taskId: key.taskId }, 1)).toMatchObject([{ state: "claimed", claimedBy }])
    }
  })

  test("for a queued run one claims it", async () => {
    const [{ commit, store }] = writings
    for (const _ of ROUNDS) {
      const queued = create({}, QUEUED)
      const { id: taskId } = queued.details
      await commit([queued])
      const start: Operation = { op: "task.apply", run: { taskId, run: 1 }, event: STARTED }
      expect(await race((writing) => writing.commit([start]))).toHaveLength(1)
      expect(await store.task(taskId)).toMatchObject({ status: "running", fence: 1, lastSequence: 2 })
    }
  })

  test("to change a session one does, and the others are refused", async () => {
    const [{ commit, store }] = writings
    const id = createSessionId()
    await commit([{ op: "session.create", id, workspace: DEFAULT_WORKSPACE, data: {} }])
    for (const round of ROUNDS) {
      const expectedVersion = (await store.session(id))?.version ?? -1
      const messages = round % 2 === 0 ? [] : [round]
      const change: Operation = { op: "session.update", id, expectedVersion, data: { round }, messages }
      expect(await race((writing) => writing.commit([change]))).toHaveLength(1)
    }
  })

  test("to replace a document one does, and the others are refused", async () => {
    const [{ commit, store }] = writings
    const place = { workspace: DEFAULT_WORKSPACE, collection: "races", id: "document" }
    await commit([{ op: "document.put", ...place, value: null, expectedVersion: 0 }])
    for (const round of ROUNDS) {
      const { version = -1 } = (await store.document(place.workspace, place.collection, place.id)) ?? {}
      const put: Operation = { op: "document.put", ...place, value: round, expectedVersion: version }
      expect(await race((writing) => writing.commit([put]))).toHaveLength(1)
    }
  })

  test("to renew a lease each is counted", async () => {
    const [{ commit, database }] = writings
    const lease = { key: "race", holder: "one" }
    const [{ fence }] = await commit([{ op: "lease.take", ...lease, ttlMs: 600_000, data: {} }])
    const [before] = await database.query<{ renewals: number }>("SELECT renewals FROM leases WHERE key = 'race'")
    for (const _ of ROUNDS) await race((writing) => writing.commit([{ op: "lease.renew", ...lease, fence }]))
    const renewals = (before?.renewals ?? 0) + writings.length * ROUNDS.length
    expect(await database.query("SELECT renewals FROM leases WHERE key = 'race'")).toEqual([{ renewals }])
  })

  test("to end the last members of a group one joins it", async () => {
    const [{ commit, store }] = writings
    for (const _ of ROUNDS) {
      const details = sampleGroup()
      const members = writings.map(() => create({ group: details.id }))
      await commit([{ op: "group.create", details }])
      await commit([...members])
      await commit([{ op: "group.move", groupId: details.id, to: "sealed" }])
      await race((writing, index) =>
        writing.commit(members.slice(index, index + 1).map((each) => complete(each.details.id))),
      )
      expect(await store.group(details.id)).toMatchObject({ state: "joined", memberCount: writings.length })
    }
  })
})
