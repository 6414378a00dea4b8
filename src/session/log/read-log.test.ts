import { expect, test } from "vitest"
import { createSession } from "../../engine/suite/samples.ts"
import { createEmbeddedEngine } from "../../engine/embedded/engine.ts"
import { IN_MEMORY } from "../../engine/embedded/open.ts"
import { textOf } from "../../plugin/message.ts"
import type { TaskStore } from "../../task/store.ts"
import { type LogEntry, toStoredEntry } from "./log-entry.ts"
import { readHistory } from "./read-log.ts"

const MORE_THAN_A_PAGE = 600

test("a history ends where its record ends, though another process appends while it is read", async () => {
  await using engine = await createEmbeddedEngine({ path: IN_MEMORY })
  const { store } = engine
  const id = await createSession(engine)
  const append = async (...texts: readonly string[]) => {
    const messages = texts.map((text) => toStoredEntry(say(text)))
    const expectedVersion = (await store.session(id))?.version ?? 0
    await store.commit([{ op: "session.update", id, expectedVersion, data: {}, messages }])
  }
  const said = Array.from({ length: MORE_THAN_A_PAGE }, (_, index) => `message ${index + 1}`)
  await append(...said)
  const record = await store.session(id)
  if (!record) throw new Error("The session is not there.")
  const appending: TaskStore = Object.assign(Object.create(store), {
    async messages(...asked: Parameters<TaskStore["messages"]>) {
      const page = await store.messages(...asked)
      await append("from another process")
      return page
    },
  })
  const { history, position } = await readHistory(appending, record)
  expect(position).toBe(MORE_THAN_A_PAGE)
  expect(history.map(textOf)).toEqual(said)
})

function say(text: string): LogEntry {
  return { kind: "message", turn: null, message: { role: "user", parts: [{ type: "text", text }] } }
}
