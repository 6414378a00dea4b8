import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import type { SessionId } from "../../src/task/id.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate, type Gate } from "../support/session/gate.ts"
import { beginLife } from "../support/session/lives.ts"
import { recordSpans } from "../support/session/spans.ts"

const SESSION = "session" as SessionId

test("after a crash the turn and its task go on in the trace that began them", async () => {
  const spans = recordSpans({ hasContext: true })
  const folder = createFolder()
  const held = createGate()
  const script = [{ calls: [{ tool: "hold" }] }, { gate: new Promise(() => {}) }]
  const first = await beginLife(folder, 1, { script, tools: [createHold(held)] })
  const session = await first.runtime.createSession({ id: SESSION })
  session.send("Hold.").catch(() => {})
  await held.reached
  await first.isAsked(2)
  first.life.end()
  const [task] = (await first.store.tasks({ kinds: ["tool"] }, { limit: 2 })).items
  const [turn] = (await first.store.tasks({ kinds: ["turn"] }, { limit: 2 })).items
  expect(task?.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(turn?.traceId).toBe(task?.traceId)
  // A process that dies tells nobody of the spans it was in.
  expect(spans.all().map(({ name }) => name)).toEqual(["chat model", "execute_tool hold"])

  const gate = createGate()
  gate.open()
  const second = await beginLife(folder, 2, { script: ["done"], tools: [createHold(gate)] })
  await finishTurn(second.runtime)
  for (const name of ["invoke_agent main", "run_task hold"]) {
    expect(spans.find(name).spanContext().traceId).toBe(task?.traceId)
  }
  expect(new Set(spans.all().map((span) => span.spanContext().traceId))).toEqual(new Set([task?.traceId]))
  expect(spans.find("run_task hold").attributes).toMatchObject({
    "meanwhile.task.id": task?.id,
    "meanwhile.task.status": "completed",
    "meanwhile.task.promoted": false,
  })
  const notices = await second.store.notices({ session: SESSION }, 10)
  expect(notices).toMatchObject([{ taskId: task?.id, traceId: task?.traceId }])
})

function createHold(gate: Gate): Tool {
  return defineTool({
    name: "hold",
    description: "Holds.",
    background: { mode: "always" },
    onCrash: "retry",
    input: z.object({}),
    async run() {
      await gate.pass()
      return "held"
    },
  })
}
