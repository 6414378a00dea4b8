import { expect, test } from "vitest"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { ArtifactHash, GroupId, SessionId, TaskId } from "../../task/id.ts"
import { parseFileText, toFileText } from "./session-file.ts"

const TASK = "22222222-2222-4222-8222-222222222222" as TaskId
const STATE: SessionState = {
  id: "11111111-1111-4111-8111-111111111111" as SessionId,
  description: null,
  turns: 1,
  createdAt: 1_000,
  updatedAt: 2_000,
  model: null,
  messages: [{ role: "user", parts: [{ type: "text", text: "bake" }] }],
  data: {},
}
const RESULT = {
  taskId: TASK,
  groupId: "33333333-3333-4333-8333-333333333333" as GroupId,
  status: "completed",
  summary: "a brown loaf",
  payload: { loaves: [1, null] },
  facts: { crust: "brown" },
  artifacts: [{ hash: "sha256-abc" as ArtifactHash, name: "loaf.txt", mediaType: "text/plain", bytes: 4 }],
  consumed: false,
  completedAt: 1_500,
} as const

test("results that a conversation has not used are saved with it, and loaded again", () => {
  const state = { ...STATE, backgroundResults: { [TASK]: RESULT } }
  expect(parseFileText(toFileText(state), "saved.json")).toEqual(state)
})

test("documents that plugins keep for a conversation are saved with it, and loaded again", () => {
  const state = { ...STATE, documents: { todo: { plan: { title: "Bread", steps: [] } } } }
  expect(parseFileText(toFileText(state), "saved.json")).toEqual(state)
  expect(toFileText(STATE)).not.toContain("documents")
})

test("a conversation that was saved without results is loaded without them", () => {
  expect(toFileText(STATE)).not.toContain("backgroundResults")
  expect(parseFileText(toFileText(STATE), "saved.json")).toEqual(STATE)
})

test("an invalid result is refused with its place in the file", () => {
  const text = toFileText({ ...STATE, backgroundResults: { [TASK]: RESULT } }).replace('"a brown loaf"', "42")
  expect(() => parseFileText(text, "saved.json")).toThrow(
    new RegExp(`saved\\.json is no saved conversation .*backgroundResults\\.${TASK}\\.summary`),
  )
})
