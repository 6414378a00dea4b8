import { join } from "node:path"
import { Command } from "commander"
import { expect, onTestFinished, test, vi } from "vitest"
import { z } from "zod"
import type { Runtime } from "../../src/app.ts"
import { createCommand as createLedgerCommand } from "../../src/cli/ledger-command.ts"
import { userMessage } from "../../src/plugin/message.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import type { LedgerEntry } from "../../src/session/ledger/ledger.ts"
import { type SessionId } from "../../src/task/id.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"
import { eventually } from "../support/eventually.ts"
import { testOfFile } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife } from "../support/session/lives.ts"
import { openAgent } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

const ask: Tool = defineTool({
  name: "ask",
  description: "Asks the model itself.",
  input: z.object({}),
  run: async (_, { model }) => (await model.generate({ messages: [userMessage("Well?")] })).finish,
})

const delegate: Tool = defineTool({
  name: "delegate",
  description: "Hands the work down.",
  kind: "agent",
  input: z.object({}),
  run: async (_, { sessions }) => (await (await sessions.createChild({ name: "helper" })).send("Work.")).text,
})

const read = async (runtime: Runtime, session?: SessionId): Promise<readonly LedgerEntry[]> =>
  (await Array.fromAsync(runtime.exportLedger(session ? { session } : {}))).map(
    (line) => JSON.parse(line) as LedgerEntry,
  )

const withoutTime = (entries: readonly LedgerEntry[]): readonly unknown[] =>
  entries
    .map(({ session, turn, task, model, purpose, usage, costMicros }) =>
      JSON.stringify([session, turn, task, model, purpose, usage, costMicros]),
    )
    .toSorted()

test("the record says what the ledger says: of turns, of plugins' own calls and of subagents", async () => {
  const script = [{ calls: [{ tool: "ask" }] }, "helped", { calls: [{ tool: "delegate" }] }, "below", "done"]
  const { runtime, session } = await openAgent(script, { isKept: true, tools: [ask, delegate, add] })
  await session.send("Go.")
  const entries = await read(runtime)
  expect(entries).toHaveLength(5)
  expect(withoutTime(entries)).toEqual(withoutTime(runtime.ledger.entries()))
  expect(entries.filter(({ purpose }) => purpose === "helper")).toMatchObject([{ session: session.id }])
  expect(entries.filter(({ session: id }) => id !== session.id)).toMatchObject([
    { task: expect.any(String), purpose: "turn" },
  ])
  expect(await read(runtime, session.id)).toHaveLength(4)
})

test("what an earlier process used is read by the next one", async () => {
  const first = await openAgent(["one", "two"], { isKept: true })
  await first.session.send("One.")
  await first.session.send("Two.")
  await first.runtime.close()
  const second = await openAgent(["three"], { isKept: true, folder: first.folder })
  await second.session.send("Three.")
  expect(second.runtime.ledger.total().calls).toBe(1)
  expect(await second.runtime.ledgerTotals("session")).toMatchObject([
    { key: first.session.id, total: { calls: 2, usage: { inputTokens: 20, outputTokens: 10 }, hasUnknownCost: true } },
    { key: second.session.id, total: { calls: 1 } },
  ])
  expect(await second.runtime.ledgerTotals("task")).toMatchObject([{ key: null, total: { calls: 3 } }])
})

test("a plugin's call after its turn has ended is in the record at once, and is that turn's", async () => {
  const { late, gate } = createLate()
  const script = [{ calls: [{ tool: "late" }] }, "started", "helped"]
  const { runtime, session } = await openAgent(script, { isKept: true, tools: [late] })
  const { turn } = await session.send("Go.")
  gate.open()
  const helper = await eventually("the call is in the record", async () =>
    (await read(runtime)).find(({ purpose }) => purpose === "helper"),
  )
  const [task] = (await runtime.tasks.list({ tool: "late" })).items
  expect(helper).toMatchObject({ session: session.id, turn, task: task?.id })
})

test("an answer that was cut off in a call has cost something all the same", async () => {
  const cut = { calls: [{ tool: "add", input: { a: 1, b: 1 } }], finish: "length" } as const
  const { runtime, session } = await openAgent([cut], { isKept: true, tools: [add] })
  await expect(session.send("Go.")).rejects.toMatchObject({ code: "model_refused" })
  expect(withoutTime(await read(runtime))).toEqual(withoutTime(runtime.ledger.entries()))
})

test("a plugin's model call while the model is asked does not make a tool call run again after a crash", async () => {
  const folder = createFolder()
  const { late, gate, asked } = createLate()
  const runs: string[] = []
  const once = defineTool({
    name: "once",
    description: "Runs once.",
    input: z.object({}),
    run: async () => runs.push("once"),
  })
  const hold = defineTool({
    name: "hold",
    description: "Holds for ever.",
    input: z.object({}),
    run: () => (runs.push("hold"), new Promise<string>(() => {})),
  })
  const callBoth = async () => {
    gate.open()
    await asked
    return { calls: [{ tool: "once" }, { tool: "hold" }] }
  }
  const script = [{ calls: [{ tool: "late" }] }, "started", callBoth, "helped"]
  const first = await beginLife(folder, 1, { script, tools: [late, once, hold] })
  const session = await first.runtime.createSession({ id: "session" })
  await session.send("Start.")
  session.send("Go.").catch(() => {})
  await eventually("one call has ended and is kept", async () => {
    const [turn] = (await first.store.tasks({ kinds: ["turn"] }, { limit: 1 })).items
    const steps = turn ? await first.store.steps(turn.id, 1) : []
    return runs.includes("hold") && steps.some(({ state }) => state === "finished")
  })
  first.life.end()
  const second = await beginLife(folder, 2, { script: ["done"], tools: [late, once, hold] })
  await finishTurn(second.runtime)
  expect(runs).toEqual(["once", "hold"])
  const entries = await read(second.runtime)
  expect(entries.map(({ purpose }) => purpose).toSorted()).toEqual(["helper", "turn", "turn", "turn", "turn"])
})

testOfFile("the command shows it as a table, as JSON and line by line, and runs nothing", async () => {
  const { runtime, session, folder } = await openAgent(["one", "two"], { isKept: true })
  await session.send("One.")
  await session.send("Two.")
  await runtime.close()
  const dataDirectory = join(folder, "data")
  expect(await runLedger(dataDirectory)).toBe(
    [
      "model           calls  input  cached  output  reasoning     cost",
      "scripted/model      2     20       0      10          0  unknown",
      "all                 2     20       0      10          0  unknown",
      "",
    ].join("\n"),
  )
  const json = JSON.parse(await runLedger(dataDirectory, "--json", "--by", "session")) as unknown
  expect(json).toMatchObject({ by: "session", rows: [{ key: session.id, total: { calls: 2 } }] })
  const lines = (await runLedger(dataDirectory, "--jsonl")).trimEnd().split("\n")
  expect(lines.map((line) => (JSON.parse(line) as LedgerEntry).session)).toEqual([session.id, session.id])
  await expect(runLedger(join(folder, "empty"))).rejects.toThrow(/Nothing was kept in .*empty.*--data-dir/)
})

async function runLedger(dataDirectory: string, ...parameters: readonly string[]): Promise<string> {
  const written: string[] = []
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0)
  onTestFinished(() => spy.mockRestore())
  const program = new Command("meanwhile").option("--data-dir <folder>").addCommand(createLedgerCommand())
  try {
    await program.parseAsync(["--data-dir", dataDirectory, "ledger", ...parameters], { from: "user" })
  } finally {
    spy.mockRestore()
  }
  return written.join("")
}

/** A plugin that asks the model in the background, once the gate is open. */
function createLate() {
  const gate = createGate()
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const late = defineTool({
    name: "late",
    description: "Asks the model later.",
    background: { mode: "always" },
    input: z.object({}),
    async run(_, { model }) {
      await gate.pass()
      const { finish } = await model.generate({ messages: [userMessage("Well?")] })
      resolve()
      return finish
    },
  })
  return { late, gate, asked }
}
