import { join } from "node:path"
import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { Message } from "../../src/plugin/message.ts"
import type { PersonChannel } from "../../src/plugin/person-port.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife } from "../support/session/lives.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { openSubagents } from "../support/session/open-subagents.ts"

const STOPPED = "It was stopped because its worker was shut down; run it again if it is still wanted."

const calls = (...names: readonly string[]): ScriptStep => ({
  calls: names.map((name) => ({ tool: "gated", input: { name } })),
})

/** A person who never answers. Once the gate is reached, the question is open. */
function createSilentPerson() {
  const gate = createGate()
  const person: PersonChannel = {
    name: "test",
    async ask(_question, signal) {
      const withdrawn = Promise.withResolvers<void>()
      signal.addEventListener("abort", () => withdrawn.resolve())
      await Promise.race([gate.pass(), withdrawn.promise])
      return { isAnswered: false, reason: "withdrawn" }
    },
  }
  return { person, asked: gate.reached }
}

const yes: PersonChannel = { name: "test", ask: async () => ({ isAnswered: true, value: "yes", by: "test" }) }

const textsOf = (messages: readonly Message[]) => resultsOf(messages).map(resultText)

async function begin(folder: string, script: readonly ScriptStep[], tool: ReturnType<typeof createGatedTool>) {
  const first = await beginLife(folder, 1, { script, tools: [tool.tool] })
  const session = await first.runtime.createSession()
  void session.send("Go.").catch(() => {})
  return { ...first, session }
}

test("the next start tells a call that a shutdown stopped as stopped, and one that had ended with its result", async () => {
  const folder = createFolder()
  const gated = createGatedTool({ obeys: true, background: { mode: "never" } })
  const first = await begin(folder, [calls("stopped", "ended")], gated)
  await gated.call(2)
  gated.calls[1]?.finish("done")
  await first.runtime.close()
  const second = await beginLife(folder, 2, { script: ["I see."], tools: [gated.tool] })
  await second.isAsked(1)
  expect(textsOf(second.model.requests[0]?.messages ?? [])).toEqual([STOPPED, "done"])
  expect(gated.calls).toHaveLength(2)
})

const KEEP = { work: "keep" } as const

test.each(["fail", "retry", "ask"] as const)(
  "close that keeps work leaves a call that cannot become a task to its tool's onCrash, as a crash does (%s)",
  async (onCrash) => {
    const folder = createFolder()
    const gated = createGatedTool({ onCrash, obeys: true, background: { mode: "never" } })
    const first = await begin(folder, [calls("one")], gated)
    const begun = await gated.call(1)
    await first.runtime.close(KEEP)
    const second = await beginLife(folder, 2, { script: ["I see."], tools: [gated.tool] })
    if (onCrash === "ask") {
      await eventually("a person is asked", async () => (await second.store.waits({ isOpen: true })).length === 1)
      return expect(gated.calls).toHaveLength(1)
    }
    if (onCrash === "retry") {
      const again = await gated.call(2)
      expect(again.context.callKey).toBe(begun.context.callKey)
      again.finish("again")
    }
    await second.isAsked(1)
    const [text] = textsOf(second.model.requests[0]?.messages ?? [])
    expect(text).toContain(onCrash === "retry" ? "again" : "whether it finished is not known")
    expect(gated.calls).toHaveLength(onCrash === "retry" ? 2 : 1)
  },
)

test("close that keeps work makes a call in the foreground a task, which goes on at the next start", async () => {
  const folder = createFolder()
  const gated = createGatedTool({ onCrash: "retry", obeys: true })
  const first = await begin(folder, [calls("one")], gated)
  const { context } = await gated.call(1)
  expect(await first.runtime.close(KEEP)).toMatchObject({ stopped: [] })
  const second = await beginLife(folder, 2, { script: ["I see.", "It has ended."], tools: [gated.tool] })
  const again = await gated.call(2)
  expect(again.context.taskId).toBe(context.taskId)
  await second.isAsked(1)
  expect(textsOf(second.model.requests[0]?.messages ?? [])[0]).toContain(context.taskId)
  again.finish("done")
})

test("a call that ignores the stop may have finished: whether it did is not known", async () => {
  const folder = createFolder()
  const gated = createGatedTool({ background: { mode: "never" } })
  const first = await begin(folder, [calls("deaf")], gated)
  const { context } = await gated.call(1)
  const closed = first.runtime.close()
  await new Promise((resolve) => context.signal.addEventListener("abort", resolve))
  await eventually("it is given up", () => {
    first.clock.advance(1_000)
    return Promise.race([closed.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))])
  })
  const second = await beginLife(folder, 2, { script: ["I see."], tools: [gated.tool] })
  await second.isAsked(1)
  expect(textsOf(second.model.requests[0]?.messages ?? [])[0]).toContain("not known")
})

test.each(["fail", "ask"] as const)(
  "a call that waited for its approval when Meanwhile was shut down is asked about again, and runs once (%s)",
  async (onCrash) => {
    const folder = createFolder()
    const gated = createGatedTool({ onCrash, effects: ["write"], background: { mode: "never" } })
    const { person, asked } = createSilentPerson()
    const permissions = { rules: [] }
    const first = await beginLife(folder, 1, { script: [calls("one")], tools: [gated.tool], person, permissions })
    const session = await first.runtime.createSession()
    void session.send("Go.").catch(() => {})
    await asked
    await first.runtime.close()
    expect(gated.calls).toHaveLength(0)

    const second = await beginLife(folder, 2, { script: ["Done."], tools: [gated.tool], person: yes, permissions })
    const again = await gated.call(1)
    second.life.end()
    again.finish()

    const third = await beginLife(folder, 3, { script: ["I see."], tools: [gated.tool], person: yes, permissions })
    if (onCrash === "fail") await third.isAsked(1)
    else {
      const waits = await eventually("a person is asked", async () => {
        const open = await third.store.waits({ isOpen: true })
        return open.length > 0 && open
      })
      expect(waits).toHaveLength(1)
    }
    expect(gated.calls).toHaveLength(1)
    if (onCrash === "fail") expect(textsOf(third.model.requests[0]?.messages ?? [])[0]).toContain("not known")
  },
)

test("a call that was begun, and that a second shutdown kept from being begun again, is still the same call", async () => {
  const folder = createFolder()
  const gated = createGatedTool({ obeys: true, onCrash: "retry", effects: ["write"], background: { mode: "never" } })
  const { person, asked } = createSilentPerson()
  const options = { tools: [gated.tool], permissions: { rules: [] } }
  const first = await beginLife(folder, 1, { ...options, script: [calls("one")], person: yes })
  const session = await first.runtime.createSession()
  void session.send("Go.").catch(() => {})
  const begun = await gated.call(1)
  await first.runtime.close()

  const second = await beginLife(folder, 2, { ...options, script: [], person })
  await asked
  await second.runtime.close()
  expect(gated.calls).toHaveLength(1)

  await beginLife(folder, 3, { ...options, script: ["Done."], person: yes })
  const again = await gated.call(2)
  expect(again.context.callKey).toBe(begun.context.callKey)
  again.finish()
})

test("a subagent that calls a tool while its worker drains is handed back with the answer", async () => {
  const dataDirectory = join(createFolder(), "data")
  const gated = createGatedTool({ obeys: true, background: { mode: "never" } })
  const options = { dataDirectory, tools: [gated.tool], permissions: allowAll }
  const main = [{ calls: [{ tool: "spawn_subagent", input: { task: "Work.", profile: "worker" } }] }]
  const first = await openSubagents({ ...options, main, below: [calls("one"), { gate: new Promise(() => {}) }] })
  void first.session.send("Go.").catch(() => {})
  const { context, finish } = await gated.call(1)
  const closing = first.runtime.close({ drainMs: 600_000, handsBack: true })
  await new Promise((resolve) => setImmediate(resolve))
  expect(context.signal.aborted).toBe(false)
  finish("done")
  await closing
  const second = await openSubagents({ ...options, main: ["Done."], below: ["I see."] })
  await eventually("the main agent is told", () => second.provider.models["main"]?.callCount === 1)
  expect(textsOf(second.provider.models["below"]?.requests[0]?.messages ?? [])).toEqual(["done"])
  expect(gated.calls).toHaveLength(1)
})

test("a subagent is told that a shutdown stopped its call", async () => {
  const dataDirectory = join(createFolder(), "data")
  const gated = createGatedTool({ obeys: true, background: { mode: "never" } })
  const options = { dataDirectory, tools: [gated.tool], permissions: allowAll }
  const main = [{ calls: [{ tool: "spawn_subagent", input: { task: "Work.", profile: "worker" } }] }]
  const first = await openSubagents({ ...options, main, below: [calls("one")] })
  void first.session.send("Go.").catch(() => {})
  await gated.call(1)
  await first.runtime.close()
  const second = await openSubagents({ ...options, main: ["Done."], below: ["I see."] })
  await eventually("the main agent is told", () => second.provider.models["main"]?.callCount === 1)
  expect(textsOf(second.provider.models["below"]?.requests[0]?.messages ?? [])).toEqual([STOPPED])
  expect(gated.calls).toHaveLength(1)
})
