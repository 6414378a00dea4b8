import { expect, test } from "vitest"
import { createSessionAncestors } from "./session-ancestors.ts"

type Store = Parameters<typeof createSessionAncestors>[0]
type SessionId = Parameters<ReturnType<typeof createSessionAncestors>>[0]

function createSessions(parents: Readonly<Record<string, string | null>>) {
  const asked: string[] = []
  let isAway = false
  const session = async (id: string) => {
    asked.push(id)
    if (isAway) throw new Error("the store is away")
    const parent = parents[id]
    return parent === undefined ? undefined : { parent }
  }
  const ancestorsOf = createSessionAncestors({ session } as unknown as Store)
  return {
    asked,
    ancestorsOf: (id: string) => ancestorsOf(id as SessionId),
    leave: () => (isAway = true),
    comeBack: () => (isAway = false),
  }
}

test("many tasks of one session have it looked up once", async () => {
  const { ancestorsOf, asked } = createSessions({ agent: "conversation", conversation: null })
  const lines = await Promise.all(Array.from({ length: 100 }, () => ancestorsOf("agent")))
  expect(new Set(lines.map(String))).toEqual(new Set(["agent,conversation"]))
  expect(asked).toEqual(["agent", "conversation"])
})

test("a session that could not be looked up, or is not stored yet, is looked up again", async () => {
  const parents: Record<string, string | null> = { conversation: null }
  const { ancestorsOf, leave, comeBack } = createSessions(parents)
  leave()
  await expect(ancestorsOf("conversation")).rejects.toThrow("away")
  comeBack()
  expect(await ancestorsOf("conversation")).toEqual(["conversation"])
  expect(await ancestorsOf("agent")).toEqual(["agent"])
  parents["agent"] = "conversation"
  expect(await ancestorsOf("agent")).toEqual(["agent", "conversation"])
})
