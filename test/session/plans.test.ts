import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createTodoPlugin } from "../../src/builtin/todo/todo-plugin.ts"
import { createFileSessionPlugin } from "../../src/builtin/session/file-session-plugin.ts"
import { parseFileText, toFileText } from "../../src/builtin/session/session-file.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Script } from "../../src/builtin/scripted/script.ts"
import type { SessionDirectory } from "../../src/plugin/sessions-port.ts"
import { toDocumentsCollection } from "../../src/session/saved/documents.ts"
import type { Session } from "../../src/session/conversation/session.ts"
import { createSessionId, DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import type { Operation } from "../../src/task/operation.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { readBytes } from "../support/stored.ts"
import { createFolder } from "../support/workplace.ts"
import { beginLife } from "../support/session/lives.ts"
import { openAgent, openScripted, PLACES, resultsOf, resultText } from "../support/session/open-agent.ts"

const plan = (...steps: readonly string[]) => ({ calls: [{ tool: "createPlan", input: { title: "Bread", steps } }] })
const update = (step: number) => ({ calls: [{ tool: "updateStep", input: { step, status: "completed" } }] })
const lastResult = (session: Session): string => resultText(resultsOf(session.history()).at(-1))

const isPlan = (operation: Operation): boolean =>
  operation.op === "document.put" && operation.collection.startsWith("plugins")

/** Opens another process on the same store, with a data folder of its own for all that plugins keep in files. */
async function openBeside(folder: string, script: Script = []) {
  const directory = join(createFolder(), "plans")
  return openScripted(createScriptedModel(script), { isKept: true, folder, plugins: [createTodoPlugin({ directory })] })
}

test("a plan is stored with its conversation: another process goes on with it, and both see what the other did", async () => {
  const agent = await openAgent([plan("knead", "bake"), "made"], { isKept: true, plugins: [createTodoPlugin()] })
  await agent.session.send("plan it")
  const there = await openBeside(agent.folder, [update(1), "done"])
  const again = await there.runtime.openSession(agent.session.id)
  await again.send("go on")
  expect(lastResult(again)).toBe("Bread: 1 of 2 steps ended\n✔ 1. knead\n○ 2. bake")
  expect(await agent.session.runCommand("plan")).toBe(lastResult(again))
})

test("a turn whose process is gone goes on with its plan elsewhere", async () => {
  const folder = createFolder()
  const plugins = [createTodoPlugin()]
  let puts = 0
  // The first step is kept as done, and nobody was told.
  const isHere = (operations: readonly Operation[]): boolean => operations.some(isPlan) && ++puts === 2
  const script = [plan("knead", "bake"), update(1)]
  const first = await beginLife(folder, 1, { script, tools: [], plugins, ending: { when: "after", isHere } })
  const session = await first.runtime.createSession({ id: createSessionId() })
  void session.send("bake")
  await first.life.over
  const second = await beginLife(folder, 2, { script: [update(2), "baked", "yes"], tools: [], plugins })
  const again = await second.runtime.openSession(session.id)
  await again.send("is it?")
  expect(resultsOf(again.history()).map(resultText).slice(1)).toEqual([
    "Bread: 1 of 2 steps ended\n✔ 1. knead\n○ 2. bake",
    "Bread: 2 of 2 steps ended\n✔ 1. knead\n✔ 2. bake",
  ])
})

test("two processes that change a plan at once lose no step", async () => {
  const agent = await openAgent([plan("a", "b", "c", "d"), "made"], { isKept: true, plugins: [createTodoPlugin()] })
  await agent.session.send("plan it")
  const there = await openBeside(agent.folder)
  const complete = ({ tasks }: Runtime, step: number) =>
    tasks.execute({ tool: "updateStep", input: { step, status: "completed" }, session: agent.session.id }).answer
  let isFirst = true
  interceptCommits(agent.runtime, async (operations, commit) => {
    // Lets the other process write between this one's read and its write.
    if (isFirst && operations.some(isPlan)) {
      isFirst = false
      await complete(there.runtime, 2)
    }
    return commit(operations)
  })
  await complete(agent.runtime, 1)
  await Promise.all([complete(agent.runtime, 3), complete(there.runtime, 4)])
  expect(await agent.session.runCommand("plan")).toContain("4 of 4 steps ended")
})

test("a plan that an earlier version kept in the data folder goes on, for other processes too", async () => {
  const directory = createFolder()
  const id = createSessionId()
  const steps = [
    { text: "knead", status: "completed" },
    { text: "bake", status: "pending" },
  ]
  writeFileSync(join(directory, `default.${id}.json`), JSON.stringify({ title: "Older", steps }))
  const options = { isKept: true, session: { id }, plugins: [createTodoPlugin({ directory })] }
  const agent = await openAgent([update(2), "done"], options)
  await agent.session.send("go on")
  expect(lastResult(agent.session)).toContain("Older: 2 of 2")
  expect(readdirSync(directory)).toEqual([])
  const there = await openBeside(agent.folder)
  expect(await (await there.runtime.openSession(id)).runCommand("plan")).toBe(lastResult(agent.session))
})

test("a conversation that is deleted takes its plan with it, and nobody else's", async () => {
  const script = [plan("a"), "made", plan("b"), "made"]
  const { runtime, session } = await openAgent(script, { isKept: true, plugins: [createTodoPlugin()] })
  const other = await runtime.createSession()
  await session.send("plan it")
  await other.send("plan it")
  const kept = ({ id }: Session) => runtime.engine.store.documents(DEFAULT_WORKSPACE, toDocumentsCollection(id))
  expect(await kept(session)).toHaveLength(1)
  await runtime.sessions.delete(session.id)
  expect([await kept(session), await other.runCommand("plan")]).toEqual([[], expect.stringContaining("1. b")])
})

test.each(PLACES)(
  "a conversation that is saved and restored elsewhere, %s, brings its plan along",
  async (_, isKept) => {
    const plugins = [createTodoPlugin()]
    const agent = await openAgent([plan("knead", "bake"), "made"], { isKept, plugins })
    await agent.session.send("plan it")
    const saved = parseFileText(toFileText(await agent.session.state()), "saved.json")
    const there = await openScripted(createScriptedModel([update(2), "done"]), { isKept: true, plugins })
    const again = await there.runtime.openSession(await there.runtime.sessions.restore(saved))
    await again.send("go on")
    expect(lastResult(again)).toContain("1 of 2 steps ended\n○ 1. knead\n✔ 2. bake")
    expect((await there.runtime.sessions.load(again.id))?.documents).toEqual((await again.state()).documents)
  },
)

test.each(PLACES)(
  "a session plugin that hands back a saved conversation, %s, hands back its plan",
  async (_, isKept) => {
    const root = createFolder()
    const sessionPlugin = (directory: SessionDirectory) =>
      createFileSessionPlugin({ directory, workingDirectory: root })
    const options = { isKept, sessionPlugin, plugins: [createTodoPlugin()] }
    const first = await openAgent([plan("knead"), "made"], options)
    await first.session.send("plan it")
    await first.session.close()
    const second = await openAgent([], { ...options, session: { id: first.session.id } })
    expect(await second.session.runCommand("plan")).toContain("1. knead")
  },
)

test("what is kept of a plan has no secrets", async () => {
  const secret = `sk-ant-api03-${"a1B2c3D4e5F6g7H8".repeat(5)}`
  const agent = await openAgent([plan(`use ${secret}`), "made"], { isKept: true, plugins: [createTodoPlugin()] })
  await agent.session.send("plan it")
  expect(await agent.session.runCommand("plan")).toContain("use [redacted]")
  await agent.runtime.close()
  expect(await readBytes(join(agent.folder, "data"))).not.toContain(secret)
})

test("a conversation in memory writes no plan", async () => {
  const options = { plugins: [createTodoPlugin()] }
  const { runtime, session } = await openAgent([plan("a", "b"), update(1), "done"], options)
  const written: Operation[] = []
  interceptCommits(runtime, (operations, commit) => {
    written.push(...operations.filter(isPlan))
    return commit(operations)
  })
  await session.send("plan it")
  expect(await session.runCommand("plan")).toContain("1 of 2 steps ended")
  expect(written).toEqual([])
})

test("calls outside of any conversation share a plan", async () => {
  const { runtime } = await openAgent([], { isKept: true, plugins: [createTodoPlugin()] })
  await runtime.tasks.execute({ tool: "createPlan", input: { steps: ["a"] } }).answer
  const answer = await runtime.tasks.execute({ tool: "getPlanStatus", input: {} }).answer
  expect(JSON.stringify(answer)).toContain("1. a")
})
