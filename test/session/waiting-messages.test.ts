import { expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"

test.each(PLACES)("a runtime that closes gives no turn to messages that wait for one (%s)", async (_, isKept) => {
  const gate = createGate()
  const script = [() => ({ gate: gate.pass() }), "never asked for"]
  const { session, runtime, model } = await openAgent(script, { isKept })
  const running = session.send("runs").catch(() => {})
  const waiting = expect(session.send("waits")).rejects.toMatchObject({ code: "closed" })
  await gate.reached
  await runtime.close()
  await Promise.all([running, waiting])
  expect(model.callCount).toBe(1)
})

test("a runtime that takes no work refuses a message instead of waiting for a turn that nobody goes on with", async () => {
  const gate = createGate()
  const { session, runtime, folder } = await openAgent([() => ({ gate: gate.pass() })], { isKept: true })
  const handedBack = session.send("runs").catch(() => {})
  await gate.reached
  await runtime.close()
  await handedBack
  const looking = await openScripted(createScriptedModel(["late"]), { isKept: true, folder, takesWork: false })
  const found = await looking.runtime.openSession(session.id)
  await expect(found.send("hello")).rejects.toMatchObject({ code: "session_busy", details: { status: "queued" } })
})
