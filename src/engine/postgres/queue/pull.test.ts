import { describe, expect, test } from "vitest"
import type { TaskId } from "../../../task/id.ts"
import { waitUntil } from "../../suite/subject.ts"
import type { PostgresDispatcher } from "./dispatcher.ts"
import { take, toRequest, useTestQueue } from "../../../../test/support/postgres/queue.ts"

const subject = useTestQueue()

/** No ticket here goes back because of its age. */
describe("room", () => {
  const plugins = ["shell", "mcp", "web"]

  test("a burst over several plugins is taken up at once by all who have room", async () => {
    const [one, other] = [subject.open(), subject.open()]
    const ids = []
    for (const plugin of plugins) ids.push(...(await subject.queue(4, { plugin })))
    expect(await take(one, { plugins, limit: 5 })).toEqual(ids.slice(0, 5))
    expect((await take(other, { plugins, limit: 7 })).toSorted()).toEqual(ids.slice(5).toSorted())
  })

  test("several that share a burst at the same moment miss nothing of it", async () => {
    const ids: TaskId[] = []
    for (const plugin of plugins) ids.push(...(await subject.queue(20, { plugin })))
    const sharing = [subject.open(), subject.open(), subject.open()]
    const left = new Set(ids)
    await waitUntil(async () => {
      const shares = await Promise.all(sharing.map((each) => take(each, { plugins, limit: 4 })))
      for (const [index, share] of shares.entries())
        for (const id of share) if (await subject.claim(sharing[index] as PostgresDispatcher, id)) left.delete(id)
      return left.size === 0
    })
  })

  test("a run that one worker declines goes to another at once, which is told", async () => {
    const [one, other] = [subject.open(), subject.open()]
    const ids = await subject.queue(3, {})
    const offers = await one.take(toRequest())
    expect(await take(other)).toEqual([])
    const told = Promise.withResolvers<void>()
    other.onOffer(told.resolve)
    one.decline(offers.slice(1))
    await told.promise
    expect(await take(other)).toEqual(ids.slice(1))
  })

  test("a worker that lacks a tool of a plugin leaves its tasks to workers that have it", async () => {
    const [one, other] = [subject.open(), subject.open()]
    const [id] = await subject.queue(1, { tool: "strange" })
    expect(await take(one, { tools: new Map([["shell", new Set(["run"])]]) })).toEqual([])
    expect(await take(other, { tools: new Map([["shell", new Set(["run", "strange"])]]) })).toEqual([id])
  })

  test("runs that lie before a worker's own and do not fit go back at once", async () => {
    const [one, other] = [subject.open(), subject.open()]
    const strange = await subject.queue(3, { tool: "strange" })
    const [own] = await subject.queue(1, {})
    const told = Promise.withResolvers<void>()
    other.onOffer(told.resolve)
    expect(await take(one, { limit: 2, tools: new Map([["shell", new Set(["run"])]]) })).toEqual([own])
    await told.promise
    expect(await take(other)).toEqual(strange)
  })
})
