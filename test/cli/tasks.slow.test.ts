import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ASKING, runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const tasks = (directory: string, ...words: readonly string[]) =>
  runToEnd({ directory, arguments: ["tasks", ...words] })

test("tasks lists, shows, prints, cancels, retries and clears what a chat in the same folder has", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("/start echo begun; exit 3")
  const ended = (await chat.shows(/\[[0-9a-f]{8}\] failed after/)).slice(1, 9)
  chat.type("/start sleep 1000")
  const live = (await chat.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)

  const listed = await tasks(directory)
  expect(listed).toMatchObject({ exitCode: 0, stderr: "" })
  expect(listed.stdout).toMatch(new RegExp(`^${live} {2}running .*sleep 1000\\n${ended} {2}failed`))
  const rows = (await tasks(directory, "list", "--json")).stdout.trim().split("\n")
  expect(rows.map((row) => (JSON.parse(row) as { status: string }).status)).toEqual(["running", "failed"])
  expect((await tasks(directory, "show", live)).stdout).toMatch(/status {4}running/)
  const shown = JSON.parse((await tasks(directory, "show", live, "--json")).stdout) as { task: { title: string } }
  expect(shown.task.title).toBe("sleep 1000")
  expect((await tasks(directory, "output", ended)).stdout).toBe("begun\n")
  expect((await tasks(directory, "limit", live, "1h", "30m")).stdout).toBe(
    `[${live}] may run for 1 h 30 min in all now\n`,
  )

  expect((await tasks(directory, "cancel", live)).stdout).toMatch(new RegExp(`\\[${live}\\] cancelled after`))
  await chat.shows(new RegExp(`\\[${live}\\] cancelled after .* by person`))
  chat.endInput()
  expect(await chat.exited).toBe(0)

  expect((await tasks(directory, "retry", ended)).stdout).toMatch(/run 2 is .*\n[\s\S]*failed after .* exited with 3/)
  expect((await tasks(directory, "clear")).stdout).toBe("2 ended tasks removed.\n")
  expect((await tasks(directory, "list")).stdout).toMatch(/^No tasks yet/)
})

test("a task of a killed program is shown as one with a silent worker, until another worker takes it over", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("/start sleep 1000")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  expect((await tasks(directory, "show", id)).stdout).toMatch(new RegExp(`^runs on +here, pid ${chat.pid}$`, "m"))
  chat.kill("SIGKILL")
  await chat.exited
  const { stdout } = await tasks(directory, "show", id)
  expect(stdout).toMatch(/^status +running$/m)
  expect(stdout).toMatch(
    new RegExp(`^runs on +here, pid ${chat.pid}; its worker is silent, and another worker will take it over$`, "m"),
  )
})

test("an unknown id is refused with 2", async () => {
  const { exitCode, stderr } = await tasks(createFolder(), "show", "zzz")
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^meanwhile: There is no task "zzz"/)
})

test("wrong arguments are refused with 2 and the right ones, for every command", async () => {
  const directory = createFolder()
  const refused = async (...words: string[]) => {
    const { exitCode, stderr } = await runToEnd({ directory, arguments: words })
    expect(exitCode, words.join(" ")).toBe(2)
    return stderr
  }
  expect(await refused("tasks", "bogus")).toContain("there are list, show, output")
  expect(await refused("tasks", "show")).toContain("meanwhile tasks show --help")
  expect(await refused("tasks", "show", "")).toContain("`meanwhile tasks` lists the ids")
  await refused("trust", "list", "more")
  await refused("doctor", "more")
  writeFileSync(join(directory, "file"), "")
  await refused("--data-dir", join(directory, "file", "below"), "tasks")
  expect(existsSync(join(directory, ".meanwhile"))).toBe(false)
})

test("a look at tasks makes no data folder, and reports a named one that is missing", async () => {
  const directory = createFolder()
  expect(await tasks(directory, "list")).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^No tasks yet/) })
  const named = join(directory, "mistyped")
  for (const words of [["list"], ["show", "zzz"], ["retry", "zzz"]]) {
    const { exitCode, stderr } = await runToEnd({ directory, arguments: ["--data-dir", "mistyped", "tasks", ...words] })
    expect(stderr).toBe(
      `meanwhile: Nothing was kept in ${named}: there is no such folder. Name another: --data-dir FOLDER\n`,
    )
    expect(exitCode).toBe(2)
  }
  expect(readdirSync(directory)).toEqual([])
})

test.each([
  ["tasks --concurrency 3", "meanwhile tasks list has no option --concurrency: it is for a chat, a run or a worker"],
  ["tasks --resume", "meanwhile tasks list has no option --resume. To go on with a conversation without a chat:"],
  ["tasks show 1f --yes", "meanwhile tasks show has no option --yes"],
  ["--model a/b workers", "meanwhile workers has no option --model"],
  ["migrate --data-dir x", "meanwhile migrate has no option --data-dir"],
  ["init --trust", "meanwhile init has no option --trust"],
  ["tasks list --fast", "unknown option '--fast'"],
])("%s is refused with 2 and the option by its name", async (words, message) => {
  const directory = createFolder()
  const { exitCode, stdout, stderr } = await runToEnd({ directory, arguments: words.split(" ") })
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) })
  expect(stderr).toMatch(/\(meanwhile .*--help shows how it is used\)\n$/)
  expect(existsSync(join(directory, ".meanwhile"))).toBe(false)
})

test("a look at tasks takes over no work of a killed program", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("count to 400 slowly")
  await chat.shows(/1 2/)
  chat.kill("SIGKILL")
  await chat.exited
  const { stdout } = await tasks(directory, "list", "--all")
  expect(stdout).toMatch(/running .*count to 400 slowly/)
})

test("an unknown word is refused, and help lists the words", async () => {
  const directory = createFolder()
  expect(await runToEnd({ directory, arguments: ["dance"] })).toMatchObject({ exitCode: 2 })
  const unknown = await runToEnd({ directory, arguments: ["help", "dance"] })
  expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no command "dance"') })
  const { exitCode, stdout } = await runToEnd({ directory, arguments: ["--help"] })
  expect(exitCode).toBe(0)
  for (const word of ["--resume", "--model", "--trust", "run", "tasks", "doctor", "init", "Examples:", "Exit codes:"]) {
    expect(stdout).toContain(word)
  }
  expect(await runToEnd({ directory, arguments: ["--version"] })).toMatchObject({ exitCode: 0, stdout: "0.1.0\n" })
})

test.each(["", "tasks", "tasks show"])("help %s shows the same as --help", async (words) => {
  const directory = createFolder()
  const command = words.split(" ").filter((word) => word !== "")
  const asked = await runToEnd({ directory, arguments: ["help", ...command] })
  expect(asked).toEqual(await runToEnd({ directory, arguments: [...command, "--help"] }))
  expect(asked).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(["Usage: meanwhile", ...command].join(" ")),
  })
})

test.each(["tasks", "tasks show", "workers", "doctor", "ledger", "worker", "run"])(
  "help of %s says how its store is named",
  async (words) => {
    const { stdout } = await runToEnd({ directory: createFolder(), arguments: [...words.split(" "), "--help"] })
    expect(stdout).toContain("--engine <url>")
    expect(stdout).toContain("--data-dir <folder>")
  },
)

test("help explains what the command takes, and nothing that it refuses", async () => {
  const help = async (...words: readonly string[]) =>
    (await runToEnd({ directory: createFolder(), arguments: [...words, "--help"] })).stdout
  expect(await help("tasks", "answer")).toContain("the number of an option")
  expect(await help("run")).toContain("--concurrency 0")
  expect(await help("worker")).not.toContain(" 0 leaves")
})

test("the exit code tells how a task ended, and that a command was refused", async () => {
  const directory = createFolder()
  const failing = await runToEnd({ directory, arguments: ["run", "start `test -e there` in the background"] })
  expect(failing.exitCode).toBe(1)
  const [, id = ""] = /\[([0-9a-f]{8})\] failed/.exec(failing.stderr) ?? []
  expect(await tasks(directory, "retry", id)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`[${id}] failed`),
  })
  expect(await tasks(directory, "cancel", id)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("has ended already"),
  })
  expect(await tasks(directory, "output", id)).toMatchObject({ stdout: "", stderr: "(it printed nothing)\n" })
  writeFileSync(join(directory, "there"), "")
  expect(await tasks(directory, "retry", id)).toMatchObject({ exitCode: 0 })
})

test("a retry that a person has to allow waits in the inbox, from the shell and from a chat without a terminal", async () => {
  const directory = createFolder()
  const asking = (...more: string[]) => runToEnd({ directory, arguments: ["tasks", ...more], environment: ASKING })
  const words = ["run", "start `touch made; exit 3` in the background"]
  const asked = await runToEnd({ directory, arguments: words, environment: ASKING })
  const [, id = ""] = /tasks answer ([0-9a-f]{8}) yes/.exec(asked.stderr) ?? []
  expect(await asking("answer", id, "yes")).toMatchObject({ exitCode: 1 })
  const retried = await asking("retry", id)
  expect(retried).toMatchObject({ exitCode: 4, stderr: "" })
  expect(retried.stdout).toMatch(
    new RegExp(`^\\[${id}\\] run 2 waits for your answer\n[^]*Answer: meanwhile tasks answer ${id} yes\\|no\n$`),
  )
  expect(await asking("answer", id, "no")).toMatchObject({ exitCode: 0 })
  const chat = await runToEnd({ directory, environment: ASKING }, `/retry ${id}\n`)
  expect(chat).toMatchObject({ exitCode: 0 })
  expect(chat.stdout).toMatch(new RegExp(`run 3 waits for your answer\n[^]*Answer: /answer ${id} yes\\|no\n`))
  expect((await asking("inbox")).stdout).toContain(`[${id}] Allow run_command?`)
  expect(await asking("answer", id, "yes")).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining("exited with 3"),
  })
})

test("Ctrl+C on a retry says that the task, which ran there, is cancelled", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory, arguments: ["--on-exit", "stop"] })
  chat.type("/start sleep 1000")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  chat.type("/quit")
  await chat.exited
  const retrying = startPiped({ directory, arguments: ["tasks", "retry", id] })
  await retrying.shows(/Waiting for \[/)
  retrying.kill("SIGINT")
  expect(await retrying.exited).toBe(3)
  expect(retrying.shown()).toContain(
    `[${id}] ran here and is cancelled. To run it again: meanwhile tasks retry ${id}\n`,
  )
  expect((await tasks(directory, "show", id)).stdout).toMatch(/^status +cancelled/m)
})

test("the output of a task is printed as it was, however long its lines are, and remarks go to standard error", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("/start head -c 200000 /dev/zero | tr '\\0' x; printf '\\033[1mbold\\r'; exit 3")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] failed after/)).slice(1, 9)
  chat.type(`/output ${id}`)
  chat.endInput()
  expect(await chat.exited).toBe(0)
  expect(chat.shown()).toContain(`${"x".repeat(200_000)}bold\n`)

  const printed = `${"x".repeat(200_000)}\u001b[1mbold\r`
  expect(await tasks(directory, "output", id)).toEqual({ exitCode: 0, stdout: printed, stderr: "" })
  const followed = await tasks(directory, "output", id, "--follow")
  expect(followed).toMatchObject({ exitCode: 0, stdout: printed })
  expect(followed.stderr).toMatch(new RegExp(`^\\[${id}\\] failed after .*\\n$`))

  const terminal = startInTerminal({ directory, arguments: ["tasks", "output", id] })
  expect(await terminal.exited).toBe(0)
  expect(terminal.raw()).toMatch(/xbold\r\n$/)
  expect(terminal.raw().split("\n")).toHaveLength(2)
})

test("output that is not text arrives in a pipe byte by byte", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type(`/start printf '\\377\\000\\303\\n\\342\\202'; exit 3`)
  const id = (await chat.shows(/\[[0-9a-f]{8}\] failed after/)).slice(1, 9)
  chat.endInput()
  expect(await chat.exited).toBe(0)
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "output", id], encoding: "latin1" })
  expect(stdout).toBe("\xff\x00\xc3\n\xe2\x82")
})

test("a run that reaches its time limit says which tasks it stops", async () => {
  expect(await runPastItsTime()).toMatch(/\[[0-9a-f]{8}\] is stopped at exit: sleep 1000\n/)
})

/** The output of the run. If the time was over before its task had begun, on a busy machine, runs again with more time. */
async function runPastItsTime(seconds = 1): Promise<string> {
  const words = ["run", "start `sleep 1000` in the background", "--timeout", String(seconds)]
  const { exitCode, stderr } = await runToEnd({ directory: createFolder(), arguments: words })
  expect(exitCode).toBe(3)
  const hasBegun = /\[[0-9a-f]{8}\]/.test(stderr)
  return hasBegun || seconds > 30 ? stderr : runPastItsTime(2 * seconds)
}
