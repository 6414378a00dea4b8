import { statSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import type { Runtime, RuntimeOptions } from "../../../src/app.ts"
import { isMeanwhileError } from "../../../src/base/error.ts"
import { createScriptedProvider } from "../../../src/builtin/scripted/scripted-provider.ts"
import { createShellPlugin } from "../../../src/builtin/shell/shell-plugin.ts"
import { createSubagentPlugin } from "../../../src/builtin/subagent/subagent-plugin.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import { type Message, textOf } from "../../../src/plugin/message.ts"
import { defineTool } from "../../../src/plugin/tool.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Session } from "../../../src/session/conversation/session.ts"
import { eventually } from "../eventually.ts"
import { findHistoryProblems } from "./history-problems.ts"

export interface OutageScenario {
  open(options: RuntimeOptions): Promise<Runtime>
  readonly dataDirectory: string
  /** From here on the store takes no writes. */
  refuse(): Promise<unknown>
  allow(): Promise<unknown>
  /** The lines that a person was told so far. */
  readonly told: readonly string[]
}

/** The fate of everything, as data. */
export interface OutageReport {
  readonly answers: readonly string[]
  readonly refusal: string
  readonly statuses: readonly string[]
  readonly problems: readonly string[]
  /** The words of the person, as they are stored. */
  readonly said: readonly string[]
}

/** The report of an outage that harmed nothing. */
export const WHOLE: OutageReport = {
  answers: ["All is done.", "I waited."],
  refusal: "store_unavailable",
  statuses: ["tool cancelled", "tool completed", "turn completed", "turn completed", "turn completed"],
  problems: [],
  said: ["Begin.", "Wait for me."],
}

/**
 * A store takes no writes from the middle of a turn on: the turn has a call that becomes a task meanwhile, and a subagent.
 * A command runs beside it, and another conversation is spoken to. Then the store takes writes again.
 */
export async function playOutage({ open, dataDirectory, refuse, allow, told }: OutageScenario): Promise<OutageReport> {
  const isTask = Promise.withResolvers<string>()
  const tools = [
    defineTool({
      name: "break_store",
      description: "Breaks.",
      input: z.object({}),
      async run() {
        await refuse()
        return "broken"
      },
    }),
    defineTool({
      name: "slow",
      description: "Ends only once it is a task.",
      input: z.object({ padding: z.string() }),
      background: { mode: "after", ms: 100 },
      run: () => isTask.promise,
    }),
  ]
  await using runtime = await open({
    dataDirectory,
    environment: {},
    permissions: allowAll,
    model: "script/main",
    reports: { enabled: false },
    plugins: [
      createScriptedProvider("script", { main: MAIN, below: ["I looked."], other: ["I waited."] }),
      createSubagentPlugin({ directories: [], profiles: [LOOKER] }),
      createShellPlugin(),
      definePlugin({ kind: "tool", name: "test", tools }),
    ],
  })
  const session = await runtime.createSession()
  const other = await runtime.createSession({ model: "script/other" })
  const { id } = await runtime.tasks.start({ tool: "run_command", plugin: "shell", input: { command: PRINTING } })
  const printedBytes = (): number =>
    statSync(join(dataDirectory, "spool", id, "1", "output"), { throwIfNoEntry: false })?.size ?? 0
  await eventually("the command prints", () => printedBytes() > 0)
  const turn = session.send("Begin.")
  await eventually("a person is told", () => told.length > 0)
  const before = printedBytes()
  const refusal = await other.send("Refuse me.", { whenStoreAway: "refuse" }).then(() => "taken", toCode)
  const waiting = other.send("Wait for me.")
  await eventually("the command goes on", () => printedBytes() > before)
  await allow()
  const hasSlowTask = async (): Promise<boolean> =>
    (await runtime.tasks.list({})).items.some(({ tool }) => tool === "slow")
  await eventually("the slow call has become a task", hasSlowTask)
  isTask.resolve("slow is done")
  const answers = [(await turn).text, (await waiting).text]
  await runtime.tasks.cancel(id)
  const { items } = await runtime.tasks.list({})
  await Promise.all(items.map((task) => runtime.tasks.result(task.id, { waitMs: 20_000 })))
  const statuses = (await runtime.tasks.list({})).items.map(({ kind, status }) => `${kind} ${status}`)
  const stored = await Promise.all([session, other].map((one) => storedOf(runtime, one)))
  return {
    answers,
    refusal,
    statuses: statuses.toSorted(),
    problems: stored.flatMap(findHistoryProblems),
    said: stored.flat().flatMap((message) => (isOfPerson(message) ? [textOf(message)] : [])),
  }
}

const LOOKER = { name: "looker", description: "Looks.", model: "script/below", instructions: "Look." }

/** The record of the task has no room in what a log holds ready for later commits. */
const padding = "x".repeat(300_000)

const MAIN = [
  { calls: [{ tool: "break_store" }, { tool: "slow", input: { padding } }] },
  { calls: [{ tool: "spawn_subagent", input: { task: "Look.", profile: "looker" } }] },
  "All is done.",
]

const PRINTING = "while :; do echo on; sleep 0.05; done"

/** Not a notice of Meanwhile's. */
const isOfPerson = (message: Message): boolean => message.role === "user" && !textOf(message).startsWith("[")

const toCode = (error: unknown): string => (isMeanwhileError(error) ? error.code : String(error))

async function storedOf(runtime: Runtime, { id }: Session): Promise<readonly Message[]> {
  return (await runtime.sessions.load(id))?.messages ?? []
}
