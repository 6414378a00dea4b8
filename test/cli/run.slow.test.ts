import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ASKING, runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

interface RunOptions {
  readonly directory?: string
  readonly input?: string
  /** After how long a command goes on in the background. */
  readonly thresholdSeconds?: number
}

function run(words: readonly string[], { directory, input, thresholdSeconds = 0.2 }: RunOptions = {}) {
  const environment = { ...ASKING, MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: String(thresholdSeconds) }
  return runToEnd({ directory: directory ?? createFolder(), arguments: ["run", ...words], environment }, input)
}

test("the answer goes to standard output and everything else to standard error", async () => {
  const { exitCode, stdout, stderr } = await run(["run `echo quiet`, then say ready"], { thresholdSeconds: 60 })
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/returned:\n\nquiet[\s\S]*ready\n$/)
  expect(stdout).not.toMatch(/•|✓|tokens/)
  expect(stderr).toMatch(/• run_command echo quiet\n {2}│ quiet\n✓ run_command .*\n[\s\S]*tokens/)
})

test.each([
  { name: "an unknown model", words: ["--model", "nope/x"], error: "nope" },
  { name: "a model without a key", words: ["--model", "openai/gpt-5"], error: "OPENAI_API_KEY" },
  { name: "an unknown session", words: ["--session", "nope"], error: "There is no session nope" },
  { name: "a data folder that cannot be made", words: ["--data-dir", "/proc/x"], error: "/proc/x cannot be used" },
])("--json ends with a result too when $name is refused at the start", async ({ words, error }) => {
  const { exitCode, stdout, stderr } = await run(["hi", "--json", ...words])
  expect(exitCode).toBe(2)
  const last: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
  expect(last).toMatchObject({ type: "result", outcome: "refused", text: "", session: null, turn: null, tasks: [] })
  expect(last).toHaveProperty("error", expect.stringContaining(error))
  expect(stderr).toContain(error)
})

test("the prompt comes from standard input if the argument is - or missing", async () => {
  const given = await run(["-"], { input: "say from a dash\n" })
  expect(given).toMatchObject({ exitCode: 0, stdout: "from a dash\n" })
  const absent = await run([], { input: "say from a pipe\n" })
  expect(absent).toMatchObject({ exitCode: 0, stdout: "from a pipe\n" })
})

test("text that is piped in beside a prompt is said with it, and cannot pass for the prompt", async () => {
  const { exitCode, stdout } = await run(["say this:"], { input: "first\n```\nlast\n" })
  expect(exitCode).toBe(0)
  expect(stdout).toBe("this:\n\nStandard input:\n````\nfirst\n```\nlast\n````\n")
})

test("a pipe that nobody writes to does not hold up a run", async () => {
  const program = startPiped({ directory: createFolder(), arguments: ["run", "say on we go"] })
  await program.shows(/Nothing came from standard input/)
  expect(await program.exited).toBe(0)
  expect(program.shown()).toContain("on we go")
})

test("help lists what a run understands, and nothing of a chat", async () => {
  const { stdout } = await run(["--help"])
  expect(stdout).toContain("--model")
  expect(stdout).not.toMatch(/--resume|--version/)
  expect(await run(["hi", "--resume"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--session ID") })
})

test("--json is one object a line for every event, and the result last", async () => {
  const { exitCode, stdout } = await run(["run `echo hi`, then say \u0085there", "--json"])
  expect(exitCode).toBe(0)
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      "agent.created",
      "tool_call.started",
      "tool_call.ended",
      "content.delta",
      "turn.completed",
    ]),
  )
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/) as string
  expect(events.at(-1)).toMatchObject({
    type: "result",
    outcome: "completed",
    text: expect.stringContaining("there") as string,
    usage: { outputTokens: expect.any(Number) as number },
    session: id,
    turn: id,
  })
  expect(stdout).not.toContain("\u0085")
})

test("--no-wait says what becomes of the tasks that it leaves, and reports nothing", async () => {
  const directory = createFolder()
  const { exitCode, stderr, stdout } = await run(["run `sleep 1000`", "--no-wait"], { directory })
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(
    /1 task goes on without this program, with a keeper \(pid \d+\):\n {2}\[[0-9a-f]{8}\] sleep 1000\n/,
  )
  expect(stdout).not.toContain("cancelled")
  const agent = await run(["start an agent to count to 400 slowly", "--no-wait"], { directory })
  expect(agent.exitCode).toBe(0)
  expect(agent.stderr).toMatch(/, with the keeper of this folder:\n {2}\[[0-9a-f]{8}\] subagent: count to 400 slowly\n/)
})

test("the next chat does not tell again what a run has told", async () => {
  const directory = createFolder()
  const chat = async () => (await runToEnd({ directory }, "say hello\n")).stdout
  await chat()
  const told = await runToEnd({ directory, arguments: ["run", "start `sleep 0.1` in the background", "--yes"] })
  expect(told.stderr).toMatch(/\[[0-9a-f]{8}\] completed/)
  expect(await chat()).not.toMatch(/completed/)
})

test("a run that needs a person ends with 4, and its question is kept and can be answered from the shell", async () => {
  const directory = createFolder()
  const { exitCode, stderr, stdout } = await run(["write file a.txt with x", "--json"], { directory })
  expect(exitCode).toBe(4)
  expect(stdout.trim().split("\n").at(-1)).toMatch(/"outcome":"needs_person".*"error":"A person is needed/)
  const [, id = ""] = /Answer: meanwhile tasks answer ([0-9a-f]{8}) yes\|no/.exec(stderr) ?? []
  expect(existsSync(join(directory, "a.txt"))).toBe(false)
  const answered = await runToEnd({ directory, arguments: ["tasks", "answer", id, "yes"] })
  expect(answered.exitCode).toBe(0)
  expect(answered.stdout).toMatch(new RegExp(`\\[${id}\\] completed in`))
  expect(existsSync(join(directory, "a.txt"))).toBe(true)
})

test("a run that does not wait ends with 4 too when its call waits for an approval", async () => {
  const { exitCode, stdout } = await run(["write file a.txt with x", "--no-wait", "--json"])
  expect(exitCode).toBe(4)
  expect(stdout.trim().split("\n").at(-1)).toMatch(/"outcome":"needs_person".*"error":"A person is needed/)
})

test("a no from the shell may say why", async () => {
  const directory = createFolder()
  const { stderr } = await run(["write file a.txt with x"], { directory })
  expect(stderr).toMatch(/\] Allow writeNewFile\? It writes\.\n {2}Tool writeNewFile .*\n[^]*\+x\n[^]*Answer: /)
  const [, id = ""] = /meanwhile tasks answer ([0-9a-f]{8}) yes\|no/.exec(stderr) ?? []
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "answer", id, "no,", "use", "a", "directory"] })
  expect(stdout).toContain("it was not allowed: use a directory")
  const again = await runToEnd({ directory, arguments: ["tasks", "answer", id, "yes"] })
  expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("waits for no answer") })
})

test("--yes needs no person", async () => {
  const directory = createFolder()
  const { exitCode } = await run(["write file a.txt with x", "--yes"], { directory })
  expect(exitCode).toBe(0)
  expect(existsSync(join(directory, "a.txt"))).toBe(true)
})

test("past --timeout, and at a signal, a run stops its work and ends with 3", async () => {
  const late = await run(["count to 400 slowly", "--timeout", "0.6"])
  expect(late.exitCode).toBe(3)
  expect(late.stderr).toMatch(/stopped: it took longer than 600 ms\n/)
  const waiting = await run(["run `sleep 1000`", "--timeout", "1"])
  expect(waiting.exitCode).toBe(3)
  const program = startPiped({ directory: createFolder(), arguments: ["run", "count to 400 slowly"] })
  await program.shows(/1 2/)
  program.kill("SIGINT")
  expect(await program.exited).toBe(3)
})

test("a turn that fails ends with 1 and the reason, and a refused prompt with 2", async () => {
  const directory = createFolder()
  const environment = { ANTHROPIC_API_KEY: "sk-ant-none", ANTHROPIC_BASE_URL: "http://127.0.0.1:1/v1", ...NO_RETRIES }
  const failed = await runToEnd({ directory, arguments: ["run", "hello", "--model", "anthropic/x"], environment })
  expect(failed.exitCode).toBe(1)
  expect(failed.stderr).toMatch(/^meanwhile: .+$/m)
  expect(failed.stderr).not.toContain("sk-ant-none")
  for (const words of [[""], ["hello", "--model", "nobody/knows"], ["hello", "--timeout", "soon"], ["hi", "--bad"]]) {
    expect(await run(words, { directory })).toMatchObject({ exitCode: 2, stdout: "" })
  }
  expect((await run(["hello", "--session", "zzz"], { directory })).stderr).toMatch(/There is no session zzz/)
})

const NO_RETRIES = { MEANWHILE_AGENT_MAX_MODEL_RETRIES: "0" }

test("--session goes on with a conversation by the beginning of its id", async () => {
  const directory = createFolder()
  const first = await run(["say one", "--json"], { directory })
  const { session } = JSON.parse(first.stdout.trim().split("\n").at(-1) ?? "") as { session: string }
  expect(first.stderr).toContain(`meanwhile run --session ${session.slice(0, 8)}`)
  const second = await run(["say two", "--json", "--session", session.slice(0, 8)], { directory })
  const lines = second.stdout.trim().split("\n")
  expect(lines.at(-1)).toContain(session)
  const history = lines.find((line) => line.includes('"history.updated"')) ?? ""
  expect((JSON.parse(history) as { messages: unknown[] }).messages).toHaveLength(4)
})
