import { expect, test } from "vitest"
import type { Wake } from "../../../task/bus.ts"
import type { GroupId, SessionId, TaskId } from "../../../task/id.ts"
import { fromPayload, type News, toPayloads } from "./wake-payload.ts"

const taskWake = (id: string, sequence: number): Wake => ({ about: "task", taskId: id as TaskId, sequence })
const sessionWake = (id: string): Wake => ({ about: "session", sessionId: id as SessionId })
const writtenWake = (id: string): Wake => ({ ...sessionWake(id), hasNotice: false }) as Wake
const groupWake = (id: string): Wake => ({ about: "group", groupId: id as GroupId })
const news = (...wakes: Wake[]): News => ({ wakes, hasOffers: false })

test("what is told is heard, each thing once", () => {
  const changes = [
    news(taskWake("one", 3), taskWake("other", 1), sessionWake("told"), writtenWake("said"), groupWake("all")),
    { wakes: [taskWake("one", 2), taskWake("one", 4), writtenWake("told"), groupWake("all")], hasOffers: true },
  ]
  const payloads = toPayloads("me", changes)
  expect(payloads).toHaveLength(1)
  expect(fromPayload(payloads[0] ?? "")).toEqual({
    sender: "me",
    hasOffers: true,
    wakes: [taskWake("one", 4), taskWake("other", 1), sessionWake("told"), writtenWake("said"), groupWake("all")],
  })
})

test("a task is told of as live only if all its wake-ups say so", () => {
  const live = (id: string, sequence: number): Wake => ({ ...taskWake(id, sequence), isLive: true }) as Wake
  const [payload = ""] = toPayloads("me", [
    news(live("one", 1), live("other", 1), taskWake("other", 2), live("one", 2)),
  ])
  expect(fromPayload(payload)?.wakes).toEqual([live("one", 2), taskWake("other", 2)])
})

test("no news is not told, and offers alone are", () => {
  expect(toPayloads("me", [news(), news()])).toEqual([])
  const [payload = ""] = toPayloads("me", [{ wakes: [], hasOffers: true }])
  expect(fromPayload(payload)).toEqual({ sender: "me", wakes: [], hasOffers: true })
})

test("much is told in several parts, each small enough, with odd ids too", () => {
  const wakes = Array.from({ length: 1_500 }, (_, index) => taskWake(`task "${index}" ü\u{1f600}\ud800\u0000`, index))
  const payloads = toPayloads("me", [{ wakes, hasOffers: true }])
  expect(payloads.length).toBeGreaterThan(1)
  for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000)
  const heard = payloads.flatMap((payload) => fromPayload(payload) ?? [])
  expect(heard.flatMap((message) => message.wakes)).toEqual(wakes)
  expect(heard.filter(({ hasOffers }) => hasOffers)).toHaveLength(1)
})

test("news that is too much or too large becomes a reason to look at everything", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => taskWake(`a task with a rather long id ${index}`, index))
  for (const changes of [[news(...many)], [news(groupWake("x".repeat(9_000)))], [news({ about: "unknown" })]]) {
    const [payload = "", ...more] = toPayloads("me", changes)
    expect(more).toEqual([])
    expect(fromPayload(payload)).toEqual({ sender: "me", wakes: [{ about: "unknown" }], hasOffers: true })
  }
})

test.each(["", "no json", "null", "[]", '{"tasks":[]}', '{"from":"x","tasks":[["one"]]}', '{"from":"x","groups":7}'])(
  "%j is not understood",
  (payload) => {
    expect(fromPayload(payload)).toBeUndefined()
  },
)
