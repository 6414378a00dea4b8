import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createRuntime } from "../../src/app.ts"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { callsOf, textOf } from "../../src/plugin/message.ts"
import { type BackgroundPolicy, defineTool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { eventually } from "../support/eventually.ts"
import { createTestDatabase, START_PATIENCE_MS } from "../support/postgres/server.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"

/** Of two transactions that write, the server takes one back at its commit. A sequence counts what is taken back, too. */
const SWITCH = `
  CREATE SEQUENCE meanwhile.attempts;
  CREATE FUNCTION meanwhile.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('meanwhile.attempts') % 2 = 1 THEN RAISE 'could not serialize access' USING ERRCODE = '40001'; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER refuse BEFORE INSERT ON meanwhile.commit_marks FOR EACH ROW EXECUTE FUNCTION meanwhile.refuse()`

test("a server that takes back every second commit of a turn (40001) loses nothing, and makes nothing twice", async () => {
  await using place = await createTestDatabase()
  const admin = new pg.Client(place.url)
  await admin.connect()
  const dataDirectory = mkdtempSync(join(tmpdir(), "meanwhile-conflicts-"))
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }))
  const effects: string[] = []
  const told: string[] = []
  const isTask = Promise.withResolvers<void>()
  const toTool = (name: string, background: BackgroundPolicy, end?: Promise<void>) =>
    defineTool({
      name,
      description: "Is counted.",
      input: z.object({}),
      background,
      run: async () => {
        effects.push(name)
        await end
        return `${name} is done`
      },
    })
  const tools = [toTool("quick", { mode: "never" }), toTool("slow", { mode: "after", ms: 100 }, isTask.promise)]
  const plugins = [
    createScriptedProvider("script", { main: MAIN, below: ["I looked."] }),
    createSubagentPlugin({ directories: [], profiles: [LOOKER] }),
    definePlugin({ kind: "tool", name: "test", tools }),
  ]
  await using runtime = await createRuntime({
    dataDirectory,
    plugins,
    engine: place.url,
    environment: {},
    permissions: allowAll,
    model: "script/main",
    reports: { enabled: false },
    storeWait: { tell: (line) => void told.push(line), startPatienceMs: START_PATIENCE_MS },
  })
  // On a busy machine, opening may say that the server does not answer yet.
  told.splice(0)
  await admin.query(SWITCH)
  const session = await runtime.createSession()
  const sent = session.send("Begin.")
  const hasSlowTask = async () => (await runtime.tasks.list({})).items.some(({ tool }) => tool === "slow")
  await eventually("the slow call has become a task", hasSlowTask)
  isTask.resolve()
  const { text } = await sent
  const { items } = await runtime.tasks.list({})
  await Promise.all(items.map((task) => runtime.tasks.result(task.id, { waitMs: 20_000 })))
  const statuses = (await runtime.tasks.list({})).items.map(({ kind, status }) => `${kind} ${status}`)
  const { rows } = await admin.query<{ attempts: number }>(
    "SELECT last_value::integer AS attempts FROM meanwhile.attempts",
  )
  await admin.end()
  const messages = (await runtime.sessions.load(session.id))?.messages ?? []
  expect(text).toBe("All is done.")
  expect(findHistoryProblems(messages)).toEqual([])
  expect(messages.filter(({ role }) => role === "user").map(textOf)[0]).toBe("Begin.")
  expect(messages.flatMap((message) => callsOf(message).map(({ tool }) => tool))).toEqual([
    "quick",
    "slow",
    "spawn_subagent",
  ])
  expect(effects.toSorted()).toEqual(["quick", "slow"])
  expect(statuses.toSorted()).toEqual(["tool completed", "turn completed", "turn completed"])
  expect(told).toEqual([])
  expect(rows[0]?.attempts).toBeGreaterThan(10)
})

const LOOKER = { name: "looker", description: "Looks.", model: "script/below", instructions: "Look." }

const MAIN = [
  { calls: [{ tool: "quick" }, { tool: "slow" }] },
  { calls: [{ tool: "spawn_subagent", input: { task: "Look.", profile: "looker" } }] },
  "All is done.",
]
