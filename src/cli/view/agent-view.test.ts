import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { createScreen } from "../screen/create-screen.ts"
import type { AgentEvent } from "./agent-event.ts"
import { createAgentView } from "./agent-view.ts"

const MAIN = "main-id" as AgentEvent["agent"]
const CHILD = "child-id" as AgentEvent["agent"]
const TASK = "3f1c2a90-0000" as Extract<AgentEvent, { type: "tool_call.ended" }>["taskId"]

function open() {
  const output = new PassThrough()
  let shown = ""
  output.setEncoding("utf8").on("data", (text: string) => (shown += text))
  const screen = createScreen(output)
  const tasks: string[] = []
  const view = createAgentView({
    answers: screen,
    notes: screen,
    isMain: (agent) => agent === MAIN,
    isAwaited: () => false,
    onTask: (id) => tasks.push(id),
  })
  return { ...view, tasks, shown: () => shown }
}

test("an answer whose pieces were shown is not repeated, and one without pieces is shown whole", () => {
  const { show, shown } = open()
  show({ type: "content.delta", agent: MAIN, source: "model", text: "Hel" })
  show({ type: "content.delta", agent: MAIN, source: "model", text: "lo\u001b[31m" })
  show({ type: "agent.output", agent: MAIN, source: "model", text: "Hello", mode: "write" })
  show({ type: "agent.output", agent: MAIN, source: "model", text: "Again", mode: "write" })
  expect(shown()).toBe("Hello\nAgain\n")
})

test("an answer that begins again is shown again from its beginning", () => {
  const { show, shown } = open()
  show({ type: "content.delta", agent: MAIN, source: "model", text: "Hel" })
  show({ type: "content.reset", agent: MAIN, reason: "the connection was lost" })
  show({ type: "content.delta", agent: MAIN, source: "model", text: "Hello" })
  show({ type: "agent.output", agent: MAIN, source: "model", text: "Hello", mode: "write" })
  expect(shown()).toBe("Hel\n(the connection was lost)\nHello\n")
})

test("what a subagent says comes in whole lines behind its name", () => {
  const { show, shown } = open()
  show({ type: "agent.created", agent: CHILD, name: "re\u0007viewer", parent: MAIN, model: "offline/rules" })
  show({ type: "content.delta", agent: MAIN, source: "model", text: "I ask. " })
  show({ type: "content.delta", agent: CHILD, source: "model", text: "one\ntw" })
  show({ type: "content.delta", agent: CHILD, source: "model", text: "o" })
  show({ type: "agent.output", agent: CHILD, source: "model", text: "one\ntwo", mode: "write" })
  expect(shown()).toBe("I ask. \nreviewer │ one\nreviewer │ two\n")
})

test("what calls print is indented, cut, and counted anew for the next call", () => {
  const { show, shown } = open()
  const call = { agent: MAIN, callId: "1", tool: "run_command" }
  const ended = {
    ...call,
    type: "tool_call.ended",
    isSuccess: true,
    durationMs: 5,
    taskId: null,
    summary: "{}",
  } as const
  show({ ...call, type: "tool_call.started", input: { command: "seq 20" } })
  for (let line = 1; line <= 20; line++) {
    show({ type: "agent.output", agent: MAIN, source: "tool", text: `${line}\r\n`, mode: "append" })
  }
  show(ended)
  show({ ...call, type: "tool_call.started", input: { command: "echo x", cwd: "." } })
  show({ type: "agent.output", agent: MAIN, source: "tool", text: "x", mode: "append" })
  show({ ...ended, isSuccess: false, summary: "exited with 1" })
  expect(shown().match(/│ \d+\n/g)).toHaveLength(12)
  expect(shown()).toContain("  │ 12\n  │ …\n✓ run_command 5 ms\n")
  expect(shown()).toMatch(
    /• run_command {"command":"echo x","cwd":"\."}\n {2}│ x\n✗ run_command failed after 5 ms: exited with 1\n$/,
  )
})

test("a call that moved to the background names its task, whose end can then be announced", () => {
  const { show, shown, tasks } = open()
  const durationMs = 10_000
  const ended = { agent: MAIN, callId: "1", tool: "fetch_url", isSuccess: true, durationMs, summary: "", taskId: TASK }
  show({ type: "tool_call.ended", ...ended })
  expect(shown()).toBe("→ fetch_url moved to the background as [3f1c2a90] after 10.0 s\n")
  expect(tasks).toEqual([TASK])
})

test("a turn that nobody waits for tells why it failed", () => {
  const { show, shown } = open()
  show({ type: "agent.status_changed", agent: CHILD, status: "error", reason: "the key was refused" })
  expect(shown()).toBe("session child-id │ The turn failed: the key was refused\n")
})
