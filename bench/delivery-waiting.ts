import { setTimeout as sleep } from "node:timers/promises"
import { LLMock } from "@copilotkit/aimock"
import { createRuntime } from "../src/app.ts"
import { createManualClock } from "../src/base/manual-clock.ts"
import { createBackgroundPlugin } from "../src/builtin/background/background-plugin.ts"
import { createScriptedModel } from "../src/builtin/scripted/scripted-model.ts"
import { createShellPlugin } from "../src/builtin/shell/shell-plugin.ts"
import { definePlugin } from "../src/plugin/define-plugin.ts"
import { allowAll } from "../src/runner/admit/permission.ts"
import { createTogetherTool } from "./tools.ts"

const TASKS = 50
const HALF_HOUR_MS = 30 * 60 * 1_000
const STEP_MS = 500
const COMMANDS = 3
const REAL_MS = 20_000
const KEY = { BENCH_KEY: "nobody-checks-this" }

/** Model calls while fifty tasks run for half an hour by a clock of our own, with reports on. */
export async function countVirtualWaiting(folder: string): Promise<number> {
  const clock = createManualClock()
  const together = createTogetherTool(TASKS)
  const model = createScriptedModel(endlessly("I have heard."))
  const room = { maxConcurrentTasks: TASKS, maxConcurrentPerPlugin: TASKS, maxConcurrentPerSession: TASKS }
  await using runtime = await createRuntime({
    clock,
    model,
    dataDirectory: folder,
    environment: {},
    plugins: [definePlugin({ kind: "tool", name: "bench", tools: [together.tool] })],
    reports: { enabled: true },
    background: room,
  })
  const session = await runtime.createSession()
  await session.send("Hello.")
  const call = { tool: together.tool.name, input: {}, session: session.id, timeoutMs: 2 * HALF_HOUR_MS }
  await Promise.all(Array.from({ length: TASKS }, () => runtime.tasks.start(call)))
  await together.allBegun
  const before = model.callCount
  for (let passedMs = 0; passedMs < HALF_HOUR_MS; passedMs += STEP_MS) {
    clock.advance(STEP_MS)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const waiting = model.callCount - before
  together.release()
  while (model.callCount - before === waiting) {
    clock.advance(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return waiting
}

/** Requests on the wire while real commands run for a real twenty seconds, with reports on. */
export async function countRealWaiting(folder: string): Promise<number> {
  const requests: number[] = []
  const mock = new LLMock({ port: 0, host: "127.0.0.1" })
  mock.on({ endpoint: "chat" }, () => {
    requests.push(performance.now())
    return requests.length === 1 ? { content: "I begin.", toolCalls: STARTS } : { content: "I have heard." }
  })
  await mock.start()
  try {
    await using runtime = await createRuntime({
      dataDirectory: folder,
      environment: KEY,
      model: "local/bench",
      providers: { local: { baseUrl: `${mock.url}/v1`, apiKeyEnv: "BENCH_KEY" } },
      plugins: [createShellPlugin({ workingDirectory: folder, environment: process.env }), createBackgroundPlugin()],
      permissions: allowAll,
      reports: { enabled: true },
    })
    const session = await runtime.createSession()
    await session.send("Run them.")
    const startedAt = performance.now()
    const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool"] })
    if (items.length !== COMMANDS) throw new Error(`${items.length} of ${COMMANDS} commands were started`)
    const before = requests.length
    const ends = items.map(({ id }) => runtime.tasks.result(id, { waitMs: 2 * REAL_MS }))
    await Promise.race(ends)
    const endedAt = performance.now()
    const waiting = requests.slice(before).filter((at) => at < endedAt).length
    if (endedAt - startedAt < REAL_MS * 0.9) throw new Error("the commands did not run for as long as they should")
    await Promise.all(ends)
    while (requests.length === before) await sleep(1)
    await session.reported()
    return waiting
  } finally {
    await mock.stop()
  }
}

const STARTS = Array.from({ length: COMMANDS }, (_, index) => ({
  id: `call-${index}`,
  name: "start_task",
  arguments: JSON.stringify({ tool: "run_command", input: { command: `sleep ${REAL_MS / 1_000}; echo ${index}` } }),
}))

function* endlessly(text: string) {
  for (;;) yield text
}
