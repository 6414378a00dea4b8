import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "./support/gate.ts"
import { beginLife } from "./support/lives.ts"

test("who takes only its own work goes on with the left turn of the session it opens, and with no other", async () => {
  const folder = createFolder()
  const gates = [createGate(), createGate()]
  const script = gates.map((gate) => () => ({ gate: gate.pass(), text: "never said" }))
  const first = await beginLife(folder, 1, { script, tools: [] })
  const wanted = await first.runtime.createSession()
  const other = await first.runtime.createSession()
  void wanted.send("Wanted.").catch(() => {})
  await gates[0]?.reached
  void other.send("Other.").catch(() => {})
  await gates[1]?.reached
  first.life.end()

  const second = await beginLife(folder, 2, { script: ["Gone on.", "Hello."], tools: [], takesWork: "own" })
  const turns = async () =>
    (await second.store.tasks({ kinds: ["turn"] }, { limit: 10 })).items.map(({ status }) => status)
  expect(await turns()).toEqual(["running", "running"])
  const session = await second.runtime.openSession(wanted.id)
  const { text } = await session.send("Hello?")
  expect(text).toBe("Hello.")
  expect(session.history().filter(({ role }) => role === "assistant")).toHaveLength(2)
  const [left] = (await second.store.tasks({ session: other.id, kinds: ["turn"] }, { limit: 10 })).items
  expect(left).toMatchObject({ status: "running", fence: 1 })
  expect(second.model.callCount).toBe(2)
  await second.runtime.close()
  second.life.end()

  const third = await beginLife(folder, 3, { script: ["The other, too."], tools: [] })
  await eventually("the other goes on where everything is taken up", async () => {
    const { items } = await third.store.tasks({ session: other.id, kinds: ["turn"] }, { limit: 10 })
    return items[0]?.status === "completed"
  })
})
