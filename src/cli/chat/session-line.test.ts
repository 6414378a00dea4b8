import { expect, test } from "vitest"
import { createSessionLine } from "./session-line.ts"

type Meanwhile = Parameters<typeof createSessionLine>[0]
type SessionId = Parameters<ReturnType<typeof createSessionLine>>[0]

function createSessions(parents: Readonly<Record<string, string | null>>) {
  const asked: string[] = []
  let isAway = false
  const session = async (id: string) => {
    asked.push(id)
    if (isAway) throw new Error("the store is away")
    const parent = parents[id]
    return parent === undefined ? undefined : { data: parent === null ? {} : { parent } }
  }
  const lineOf = createSessionLine({ engine: { store: { session } } } as unknown as Meanwhile)
  return {
    asked,
    lineOf: (id: string) => lineOf(id as SessionId),
    leave: () => (isAway = true),
    comeBack: () => (isAway = false),
  }
}

test("many tasks of one session have it looked up once", async () => {
  const { lineOf, asked } = createSessions({ agent: "conversation", conversation: null })
  const lines = await Promise.all(Array.from({ length: 100 }, () => lineOf("agent")))
  expect(new Set(lines.map(String))).toEqual(new Set(["agent,conversation"]))
  expect(asked).toEqual(["agent", "conversation"])
})

test("what could not be looked up, or is not there yet, is looked up again", async () => {
  const parents: Record<string, string | null> = { conversation: null }
  const { lineOf, leave, comeBack } = createSessions(parents)
  leave()
  await expect(lineOf("conversation")).rejects.toThrow("away")
  comeBack()
  expect(await lineOf("conversation")).toEqual(["conversation"])
  expect(await lineOf("agent")).toEqual(["agent"])
  parents["agent"] = "conversation"
  expect(await lineOf("agent")).toEqual(["agent", "conversation"])
})
