import { describe, expect, test } from "vitest"
import { eventually } from "../../../../test/support/eventually.ts"
import { DEFAULT_WORKSPACE, type TaskId } from "../../../task/id.ts"
import type { Operation } from "../../../task/operation.ts"
import {
  complete,
  create,
  sampleGroup,
  useWritingStore,
  type Writing,
} from "../../../../test/support/postgres/writing.ts"

const { open, hold } = useWritingStore()

function toPut(taskId: TaskId, text: string) {
  const artifact = { mediaType: "text/plain", bytes: new TextEncoder().encode(text) }
  return { op: "artifact.put", workspace: DEFAULT_WORKSPACE, taskId, ...artifact } as const
}

describe("groups of several processes", () => {
  test("that race for one idempotency key make one task", async () => {
    const writings = await Promise.all([open(), open(), open()])
    for (let round = 0; round < 20; round += 1) {
      const idempotencyKey = `race/${round}`
      const results = await Promise.all(writings.map(({ commit }) => commit([create({ idempotencyKey })])))
      expect(results.filter(([{ created }]) => created)).toHaveLength(1)
      expect(new Set(results.map(([{ task }]) => task.id)).size).toBe(1)
    }
  })

  test("that end the same run end it once", async () => {
    const writings = await Promise.all([open(), open(), open()])
    const created = Array.from({ length: 40 }, () => create())
    await writings[0]?.runGroup(created.map((operation) => [operation]))
    const attempts = created.flatMap(({ details }) => writings.map(({ commit }) => commit([complete(details.id)])))
    const results = await Promise.allSettled(attempts)
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(40)
  })

  test("that lock the same tasks in other orders both succeed", async () => {
    const [one, other] = [await open(), await open()]
    const created = Array.from({ length: 30 }, () => create())
    await one.runGroup(created.map((operation) => [operation]))
    const notes = created.map(({ details }): Operation => {
      return { op: "task.note", run: { taskId: details.id, run: 1 }, facts: [{ type: "task.promoted", afterMs: 1 }] }
    })
    for (let round = 0; round < 10; round += 1) {
      const groups = [one.runGroup(notes.map((note) => [note])), other.runGroup([notes.toReversed()])]
      for (const outcomes of await Promise.all(groups))
        for (const { isRefused } of outcomes) expect(isRefused).toBe(false)
    }
    const [first] = created
    expect(first && (await one.store.task(first.details.id))).toMatchObject({ lastSequence: 22 })
  })

  test("whose members end at once join their group once", async () => {
    const writings = await Promise.all([open(), open(), open()])
    const [{ commit, store }] = writings as [Writing, ...Writing[]]
    const details = sampleGroup()
    const { id } = details
    await commit([{ op: "group.create", details }])
    const members = Array.from({ length: 30 }, () => create({ group: id }))
    await Promise.all(members.map((member) => commit([member])))
    await commit([{ op: "group.move", groupId: id, to: "sealed" }])
    await Promise.all(
      writings.flatMap((writing, part) =>
        members.flatMap(({ details }, index) => (index % 3 === part ? [writing.commit([complete(details.id)])] : [])),
      ),
    )
    const group = await store.group(id)
    expect(group).toMatchObject({ state: "joined", memberCount: 30 })
    expect(group?.arrivals).toHaveLength(30)
  })

  test("of which one stands still with its locks hold up only writers that want the same rows", async () => {
    const one = await open()
    const held = Array.from({ length: 25 }, () => create())
    const others = Array.from({ length: 10 }, () => create())
    await one.runGroup([...held, ...others].map((operation) => [operation]))
    const standing = await hold(held.map(({ details }) => details.id))
    const order: string[] = []
    // Halving their group leaves each of these set aside in a group of its own.
    const waiting = held.map(({ details }) => one.commit([complete(details.id)]).then(() => order.push("held")))
    await Promise.all(others.map(({ details }) => one.commit([complete(details.id)])))
    await one.commit([create()])
    expect(await one.store.task(held[0]?.details.id as TaskId)).toMatchObject({ status: "running" })
    expect(await standing.waiting()).toBeLessThan(3)
    order.push("others")
    await standing.letGo()
    await Promise.all(waiting)
    expect(order).toEqual(["others", ...held.map(() => "held")])
    for (const { details } of held)
      expect(await one.store.task(details.id)).toMatchObject({ status: "completed", lastSequence: 3 })
  })

  test("see the rows made by a group whose locks they have waited for", async () => {
    const [one, other] = [await open(), await open()]
    const [shared, made] = [create(), create()]
    await one.commit([shared])
    const standing = await hold([shared.details.id])
    const making = one.commit([made, complete(shared.details.id)])
    await eventually("it waits", async () => (await standing.waiting()) === 1)
    // Only an ended task can be removed, so this commit has to come after the other.
    const using = other.commit([{ op: "task.remove", taskId: shared.details.id }, complete(made.details.id)])
    await eventually("both wait", async () => (await standing.waiting()) === 2)
    await standing.letGo()
    await making
    await using
    expect(await one.store.task(made.details.id)).toMatchObject({ status: "completed" })
  })

  test("that put and remove the same bytes keep them for exactly as long as a task has them", async () => {
    const [one, other] = [await open(), await open()]
    const created = Array.from({ length: 20 }, () => create())
    await Promise.all(created.map((operation) => one.commit([operation])))
    const hashes = await Promise.all(
      created.map(({ details }, index) =>
        (index % 2 ? one : other).commit([toPut(details.id, "the same for all"), complete(details.id)]),
      ),
    )
    const [hash] = hashes[0] ?? []
    const [kept, ...removed] = created
    await Promise.all(
      removed.map(({ details }, index) =>
        (index % 2 ? one : other).commit([{ op: "task.remove", taskId: details.id }]),
      ),
    )
    expect(hash && (await one.store.artifact(DEFAULT_WORKSPACE, hash))).toMatchObject({ taskId: kept?.details.id })
    if (kept) await one.commit([{ op: "task.remove", taskId: kept.details.id }])
    expect(hash && (await one.store.artifact(DEFAULT_WORKSPACE, hash))).toBeUndefined()
  })

  test("that remove the last two owners of an artifact at the same time remove it", async () => {
    const [one, other] = [await open(), await open()]
    const owners = [create(), create()]
    const ids = owners.map(({ details }) => details.id)
    await one.commit([...owners])
    await one.commit(ids.map(complete))
    const hashes = await one.commit(ids.map((id) => toPut(id, "of the last two")))
    const standing = await hold(ids, "notices")
    const removals: Promise<unknown>[] = []
    for (const [index, writing] of [one, other].entries()) {
      removals.push(writing.runGroup([ids.slice(index, index + 1).map((taskId) => ({ op: "task.remove", taskId }))]))
      await eventually("it waits", async () => (await standing.waiting()) === index + 1)
    }
    await standing.letGo()
    await Promise.all(removals)
    for (const hash of hashes) expect(await one.store.artifact(DEFAULT_WORKSPACE, hash)).toBeUndefined()
  })
})
