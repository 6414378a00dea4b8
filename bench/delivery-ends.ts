import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime, type Runtime } from "../src/app.ts"
import { createScriptedModel } from "../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../src/plugin/define-plugin.ts"
import { textOf } from "../src/plugin/message.ts"
import type { ModelRequest } from "../src/plugin/model.ts"
import type { Tool } from "../src/plugin/tool.ts"
import type { Report } from "./benchmark.ts"
import { openDurableCommit } from "./reference/durable-commit.ts"
import { timed } from "./statistics.ts"
import { createHeldTool, createTogetherTool } from "./tools.ts"

const SAMPLES = 500
const WARM_UP = 50
const IDLE_MS = 5
const TASKS = 1_000

export interface OneEnd {
  readonly toReportMs: number
  /** The time of the reference: two durable commits. */
  readonly commitsMs: number
}

/** The time from a tool's last line to the first model call of the report, in an idle conversation. */
export async function measureOneEnd(folder: string, report: Report): Promise<readonly OneEnd[]> {
  const held = createHeldTool()
  const asked = createAsked()
  await using runtime = await openReporting(folder, held.tool, asked)
  using durable = openDurableCommit(folder)
  const samples: OneEnd[] = []
  for (let index = 0; index < WARM_UP + SAMPLES; index++) {
    await using session = await runtime.createSession()
    await session.send("Hello.")
    const call = held.nextCall()
    await runtime.tasks.start({ tool: held.tool.name, input: {}, session: session.id })
    const { release } = await call
    await sleep(IDLE_MS)
    const commitsMs = await timed(() => {
      durable.run()
      durable.run()
    })
    await sleep(IDLE_MS)
    const question = asked.next()
    const endedAt = performance.now()
    release()
    const toReportMs = (await question).at - endedAt
    await session.reported()
    if (index >= WARM_UP) samples.push({ toReportMs, commitsMs })
    if (index % 100 === 0) report.progressed(`one end, sample ${index} of ${WARM_UP + SAMPLES}`)
  }
  return samples
}

/** The time from the first of a thousand ends to the model call that tells all of them, and the number of telling turns. */
export async function measureThousandEnds(
  folder: string,
): Promise<{ readonly toReportMs: number; readonly turns: number; readonly commitMs: number }> {
  const together = createTogetherTool(TASKS)
  const asked = createAsked()
  await using runtime = await openReporting(folder, together.tool, asked)
  using durable = openDurableCommit(folder)
  const session = await runtime.createSession()
  await session.send("Hello.")
  const call = { tool: together.tool.name, input: {}, session: session.id }
  const started = await Promise.all(Array.from({ length: TASKS }, () => runtime.tasks.start(call)))
  await together.allBegun
  await sleep(IDLE_MS)
  const commitMs = await timed(() => durable.runMany(TASKS))
  const before = session.turns().length
  const question = asked.next()
  const endedAt = performance.now()
  together.release()
  const { at, text } = await question
  await session.reported()
  const untold = started.filter(({ id }) => !text.includes(id))
  if (untold.length > 0) throw new Error(`the first turn does not tell of ${untold.length} of ${TASKS} ends`)
  return { toReportMs: at - endedAt, turns: session.turns().length - before, commitMs }
}

interface Asked {
  /** Resolves when the model is asked next, with the moment and the last message. */
  next(): Promise<{ readonly at: number; readonly text: string }>
  hear(request: ModelRequest): string
}

function createAsked(): Asked {
  let onAsked: ((question: { readonly at: number; readonly text: string }) => void) | undefined
  return {
    next: () => new Promise((resolve) => (onAsked = resolve)),
    hear({ messages }) {
      const at = performance.now()
      const last = messages.at(-1)
      onAsked?.({ at, text: last ? textOf(last) : "" })
      onAsked = undefined
      return "I have heard."
    },
  }
}

/** A runtime as in a program: fully durable, with reports on and slots for all tasks at once. */
function openReporting(folder: string, tool: Tool, asked: Asked): Promise<Runtime> {
  function* answers() {
    for (;;) yield (request: ModelRequest) => asked.hear(request)
  }
  return createRuntime({
    dataDirectory: folder,
    synchronous: "full",
    environment: {},
    model: createScriptedModel(answers(), { keepsRequests: false }),
    plugins: [definePlugin({ kind: "tool", name: "bench", tools: [tool] })],
    reports: { enabled: true },
    background: { maxConcurrentTasks: TASKS, maxConcurrentPerPlugin: TASKS, maxConcurrentPerSession: TASKS },
  })
}
