import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { expect, test } from "vitest"
import { createActivity } from "../../desk/activity.ts"
import { createScreen } from "../screen/create-screen.ts"
import type { AgentEvent } from "../format/agent-event.ts"
import { createAgentView } from "./agent-view.ts"

const MAIN = "main-id" as AgentEvent["agent"]
const CHILD = "child-id" as AgentEvent["agent"]
const TASK = "3f1c2a90-0000" as Extract<AgentEvent, { type: "tool_call.ended" }>["taskId"]

function open(terminal: { readonly isTTY?: boolean; readonly columns?: number } = {}, onUnreported?: () => void) {
  const output = Object.assign(new PassThrough(), terminal)
  let shown = ""
  output.setEncoding("utf8").on("data", (text: string) => (shown += text))
  const screen = createScreen(output)
  const tasks: string[] = []
  const told: string[] = []
  const view = createAgentView({
    activity: createActivity(() => performance.now()),
    answers: screen,
    notes: screen,
    isMain: (agent) => agent === MAIN,
    isAwaited: () => false,
    onTask: (id) => tasks.push(id),
    isTold: (ids) => ids.length > 0 && ids.every((id) => told.includes(id)),
    ...(onUnreported && { onUnreported }),
  })
  return { ...view, tasks, told, shown: () => shown }
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

test("a subagent's words come in whole lines behind its name", () => {
  const { show, shown } = open()
  show({ type: "agent.created", agent: CHILD, name: "re\u0007viewer", parent: MAIN, model: "offline/rules" })
  show({ type: "content.delta", agent: MAIN, source: "model", text: "I ask. " })
  show({ type: "content.delta", agent: CHILD, source: "model", text: "one\ntw" })
  show({ type: "content.delta", agent: CHILD, source: "model", text: "o" })
  show({ type: "agent.output", agent: CHILD, source: "model", text: "one\ntwo", mode: "write" })
  expect(shown()).toBe("I ask. \nreviewer │ one\nreviewer │ two\n")
})

test("a line of a subagent that is longer than the terminal goes on behind the name", () => {
  const { show, shown } = open({ columns: 40 })
  show({ type: "agent.created", agent: CHILD, name: "reviewer", parent: MAIN, model: "offline/rules" })
  show({
    type: "content.delta",
    agent: CHILD,
    source: "model",
    text: "All files are there and none of them is empty.\n",
  })
  expect(shown()).toBe("reviewer │ All files are there and none\nreviewer │ of them is empty.\n")
})

test("the output of calls is indented and cut, by a count that begins anew with the next call", () => {
  const { show, shown } = open()
  const call = { agent: MAIN, callId: "1", tool: "run_command" }
  const ended = {
    ...call,
    type: "tool_call.ended",
    isSuccess: true,
    isRefused: false,
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
  show({ ...ended, isSuccess: false, summary: "`echo x` exited with 1." })
  expect(shown().match(/│ \d+\n/g)).toHaveLength(12)
  expect(shown()).toContain("  │ 12\n  │ …\n✓ run_command 5 ms\n")
  expect(shown()).toMatch(/• run_command echo x\n {2}│ x\n✗ run_command exited with 1 after 5 ms\n$/)
})

test("calls and their ends are told in words, and a refusal is not told as a failure", () => {
  const { show, shown } = open()
  const call = { agent: MAIN, callId: "1", tool: "updateFile" }
  const ended = { ...call, type: "tool_call.ended", isRefused: false, durationMs: 5, taskId: null } as const
  show({ ...call, type: "tool_call.started", input: { path: "notes.txt", old_text: "a", new_text: "b" } })
  show({ ...ended, isSuccess: true, summary: "updated notes.txt (+1 -1 lines)" })
  show({ ...call, type: "tool_call.started", input: { limit: 3, steps: ["a", "b"] } })
  show({ ...ended, isSuccess: false, summary: 'The file is gone. {"path":"notes.txt"}' })
  const summary = "updateFile was not allowed: the person said no: not today"
  show({ ...ended, isSuccess: false, isRefused: true, summary })
  expect(shown().split("\n")).toEqual([
    "• updateFile notes.txt",
    "✓ updateFile 5 ms: updated notes.txt (+1 -1 lines)",
    "• updateFile limit 3, 2 steps",
    "✗ updateFile failed after 5 ms: The file is gone.",
    "✗ updateFile was refused: the person said no: not today",
    "",
  ])
})

test("while it runs, a call shows how far it is, and while a person is asked, that it waits for them", () => {
  const { show, shown, close } = open({ isTTY: true, columns: 80 })
  const call = { agent: MAIN, callId: "1", tool: "copy" }
  show({ type: "agent.status_changed", agent: MAIN, status: "active" })
  show({ ...call, type: "tool_call.started", input: {} })
  show({ ...call, type: "tool_call.asked" })
  expect(stripVTControlCharacters(shown())).toMatch(/\? waiting for you\n.*└ copy \(waiting for you\)/)
  show({ ...call, type: "tool_call.progressed", progress: { done: 3, total: 10, phase: "copying", line: null } })
  show({ ...call, type: "tool_call.allowed" })
  expect(stripVTControlCharacters(shown())).toMatch(/working… .*\n.*└ copy 3 of 10 copying · \d+ ms/)
  close()
})

test("a call that moved to the background names its task, whose end can then be announced", () => {
  const { show, shown, tasks } = open()
  const durationMs = 10_000
  const call = { agent: MAIN, callId: "1", tool: "fetch_url" }
  const ended = { ...call, isSuccess: true, isRefused: false, durationMs, summary: "", taskId: TASK }
  show({ type: "tool_call.ended", ...ended })
  show({ type: "tool_call.ended", ...ended, timeoutMs: 300_000 })
  const moved = "→ fetch_url moved to the background as [3f1c2a90] after 10.0 s"
  expect(shown()).toBe(`${moved}\n${moved}, for 5 min 0 s at most\n`)
  expect(tasks).toEqual([TASK, TASK])
})

test("a call that waits for an approval is not reported as moved", () => {
  const { show, shown } = open()
  const call = { agent: MAIN, callId: "1", tool: "fetch_url", isAwaitingApproval: true } as const
  const ended = { ...call, isSuccess: true, isRefused: false, durationMs: 11, summary: "", taskId: TASK }
  show({ type: "tool_call.ended", ...ended })
  expect(shown()).toBe("? fetch_url waits for your approval as [3f1c2a90]\n")
})

test("results that a limit keeps from being reported name the limit, and are shown once", () => {
  const text = "Task 3f1c2a90 (npm test): completed."
  const shownBy = (onUnreported?: () => void): string => {
    const { show, shown } = open({}, onUnreported)
    const why = "after 3 reports in a row without a word from you"
    show({ type: "notification.shown", agent: MAIN, text, taskIds: [], why })
    return shown()
  }
  const reason =
    "(no report after 3 reports in a row without a word from you; the model hears of it with your next message)"
  expect(shownBy()).toBe(`${reason}\n${text}\n`)
  let count = 0
  expect(shownBy(() => (count += 1))).toBe(`${reason}\n`)
  expect(count).toBe(1)
})

test("a turn that nobody waits for tells why it failed", () => {
  const { show, shown } = open()
  show({ type: "agent.status_changed", agent: CHILD, status: "error", reason: "the key was refused" })
  expect(shown()).toBe("session child-id │ The turn failed: the key was refused\n")
})

test("the reason why the model is asked again is told once, until it changes", () => {
  const { show, shown } = open()
  const retried = { type: "model_call.retried", agent: MAIN, afterMs: 500 } as const
  show({ ...retried, attempt: 1, reason: "No network." })
  show({ ...retried, attempt: 2, reason: "No network." })
  show({ ...retried, attempt: 3, reason: "Overloaded." })
  show({ ...retried, attempt: 1, reason: "Overloaded." })
  expect(shown().split("\n")).toEqual([
    "No network. Trying again in 500 ms.",
    "Still so after 2 attempts. Trying again in 500 ms.",
    "Overloaded. Trying again in 500 ms.",
    "Overloaded. Trying again in 500 ms.",
    "",
  ])
})

test("a report is marked with the tasks that it is about, before its first word", () => {
  const { show, shown } = open()
  const task = { id: TASK ?? ("" as never), title: "npm\ntest" }
  const group = { id: "group-id" as never, name: "checks" }
  show({ type: "report.started", agent: MAIN, tasks: [task], group: null })
  show({ type: "content.delta", agent: MAIN, source: "model", text: "All passed." })
  show({ type: "agent.output", agent: MAIN, source: "model", text: "All passed.", mode: "write" })
  show({ type: "report.started", agent: MAIN, tasks: [task, task], group: null })
  show({ type: "report.started", agent: MAIN, tasks: [task, task, task], group })
  expect(shown()).toBe(
    "(about task 3f1c2a90: npm test)\nAll passed.\n(about 2 tasks: npm test, npm test)\n(about group checks: 3 tasks)\n",
  )
})

/** Two conversations whose reports come at the same moment, each with its text in two pieces. */
function reportTogether({ show }: Pick<ReturnType<typeof open>, "show">, ...agents: readonly AgentEvent["agent"][]) {
  const task = { id: TASK ?? ("" as never), title: "npm test" }
  for (const agent of agents) show({ type: "report.started", agent, tasks: [task], group: null })
  for (const text of ["one\n", "two"])
    for (const agent of agents) show({ type: "content.delta", agent, source: "model", text })
  for (const agent of agents) {
    show({ type: "agent.output", agent, source: "model", text: "one\ntwo", mode: "write" })
    show({ type: "agent.status_changed", agent, status: "done" })
  }
}

const REPORT = ["(about task 3f1c2a90: npm test)", "one", "two"]
const reportOf = (agent: string): readonly string[] => REPORT.map((line) => `session ${agent} │ ${line}`)

test.each([
  ["that comes first", [MAIN, CHILD]],
  ["that comes second", [CHILD, MAIN]],
])("a report of the conversation, %s, is not torn by that of another one, which follows whole", (_, agents) => {
  const view = open()
  reportTogether(view, ...agents)
  expect(view.shown()).toBe([...REPORT, ...reportOf("child-id"), ""].join("\n"))
})

test("reports of two other conversations are shown one after the other", () => {
  const view = open()
  reportTogether(view, "another-id" as typeof CHILD, CHILD)
  expect(view.shown()).toBe([...reportOf("another-"), ...reportOf("child-id"), ""].join("\n"))
})

test("a report that calls a tool, or that nobody ends, keeps no other report back", () => {
  const { show, shown, close } = open()
  const task = { id: TASK ?? ("" as never), title: "npm test" }
  show({ type: "report.started", agent: CHILD, tasks: [task], group: null })
  show({ type: "report.started", agent: MAIN, tasks: [task], group: null })
  show({ type: "agent.output", agent: CHILD, source: "model", text: "one\ntwo", mode: "write" })
  show({ type: "agent.status_changed", agent: CHILD, status: "done" })
  expect(shown()).toBe(`${REPORT[0]}\n`)
  show({ type: "tool_call.started", agent: MAIN, callId: "1", tool: "run_command", input: { command: "ls" } })
  const before = [REPORT[0], "• run_command ls", ...reportOf("child-id"), ""].join("\n")
  expect(shown()).toBe(before)
  show({ type: "report.started", agent: CHILD, tasks: [task], group: null })
  show({ type: "content.delta", agent: CHILD, source: "model", text: "one\n" })
  close()
  expect(shown()).toBe(
    before +
      reportOf("child-id")
        .slice(0, 2)
        .map((line) => `${line}\n`)
        .join(""),
  )
})

test("a notification is shown unless its news was told already", () => {
  const { show, shown, told } = open()
  const taskIds = [TASK ?? ("" as never)]
  show({ type: "notification.shown", agent: MAIN, text: "It has\u0007 ended.", taskIds })
  told.push(...taskIds)
  show({ type: "notification.shown", agent: MAIN, text: "It asks.", taskIds })
  expect(shown()).toBe("It has ended.\n")
})
