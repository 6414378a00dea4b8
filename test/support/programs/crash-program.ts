import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { EXPECTED_LIVE } from "../../../src/engine/suite/oracle.ts"
import { createRuntime } from "../../../src/app.ts"
import { toErrorMessage } from "../../../src/base/error.ts"
import { createShellPlugin } from "../../../src/builtin/shell/shell-plugin.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { Command, Report } from "../chaos/crash-protocol.ts"
import { createBurstTool, createChaosTools } from "../chaos/chaos-tools.ts"
import { writeEffect } from "../chaos/effects.ts"

/**
 * A program made to be killed. It takes commands as lines of JSON, reports their answers and every event that it sees, and its
 * tools append to a file from which no crash removes anything.
 */
const [directory = "", slots = "3", leaseSeconds = "15"] = process.argv.slice(2)
const engineUrl = process.env["MEANWHILE_ENGINE"]
const effectsFile = join(directory, "effects")
const size = Number(slots)

function report(what: Report): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

const world = {
  act: (what: "did" | "done", key: string): void => writeEffect((line) => appendFileSync(effectsFile, line), what, key),
  pause: (durationMs: number): Promise<void> => sleep(durationMs),
}
const environment = {
  PATH: process.env["PATH"] ?? "",
  EFFECTS: effectsFile,
  CHAOS_STORE: directory,
}
const meanwhile = await createRuntime({
  dataDirectory: join(directory, "data"),
  ...(engineUrl !== undefined && { engine: engineUrl }),
  plugins: [
    definePlugin({ kind: "tool", name: "chaos", tools: [...createChaosTools(world), createBurstTool(size)] }),
    createShellPlugin({ workingDirectory: directory, environment }),
  ],
  background: {
    maxConcurrentTasks: size,
    maxConcurrentPerPlugin: size,
    stopGraceSeconds: 0.5,
    leaseSeconds: Number(leaseSeconds),
    thresholdSeconds: 30,
  },
})
const { tasks, engine } = meanwhile
engine.bus.subscribe((wake) => {
  if (wake.about === "task") report({ event: wake.sequence, id: wake.taskId })
})
report({ ready: true })

const working = new Set<Promise<void>>()
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command
  if (command.do === "freeze") process.kill(process.pid, "SIGSTOP")
  if (command.do === "settle") {
    await Promise.all(working)
    await settle(true)
    report({ settled: true })
  }
  if (command.do === "leave") break
  if (command.do === "finish") {
    await Promise.all(working)
    await settle(command.answer)
    await fillEverySlot()
    break
  }
  const work = obey(command)
    .catch((error: unknown) => report({ refused: toErrorMessage(error) }))
    .finally(() => {
      working.delete(work)
      if (working.size === 0) report({ idle: true })
    })
  working.add(work)
}
await meanwhile.close()
report({ finished: true })
process.exit()

async function obey(command: Command): Promise<void> {
  if (command.do === "start") return report({ answered: (await tasks.start(command.call)).id })
  if (command.do === "promote") return promote(command.call, command.afterMs)
  if (command.do === "cancel") return cancel(command.id)
}

async function cancel(id: string): Promise<void> {
  report({ stopping: id })
  const { status } = await tasks.cancel(id)
  if (status === "stopping" || status === "cancelled") report({ stopped: id })
}

async function promote(call: ToolCall, afterMs: number): Promise<void> {
  const execution = tasks.execute(call)
  await sleep(afterMs)
  await execution.promote()
  const answer = await execution.answer
  if (answer.outcome === "promoted") report({ answered: answer.task.id })
}

/** Waits until every task has ended, also those that another process runs. */
async function settle(answer: boolean): Promise<void> {
  for (;;) {
    const { items } = await tasks.list({ statuses: EXPECTED_LIVE })
    if (items.length === 0) return
    for (const { id } of items.filter((task) => task.tool === "endless")) await cancel(id)
    for (const { id, wait } of items.filter((task) => task.status === "waiting")) {
      if (!answer) report({ stopping: id })
      await tasks.answer(wait.id, answer, "test").catch((error: unknown) => report({ refused: toErrorMessage(error) }))
    }
    const next = items.find((task) => task.status !== "waiting")
    if (next) await tasks.result(next.id, { waitMs: 500 })
    else await sleep(20)
  }
}

async function fillEverySlot(): Promise<void> {
  const burst = await Promise.all(Array.from({ length: size }, () => tasks.start({ tool: "burst", input: {} })))
  for (const { id } of burst) await tasks.result(id, { waitMs: 60_000 })
}
