import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime, type Runtime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

/** Puts tasks into the queue and runs none. */
async function openDesk(engine: string): Promise<Runtime> {
  const directory = createFolder()
  const shell = createShellPlugin({ workingDirectory: directory, environment: {} })
  const desk = await createRuntime({ engine, takesWork: false, dataDirectory: directory, plugins: [shell] })
  onTestFinished(() => desk.close())
  return desk
}

const command = (text: string) => ({ tool: "run_command", input: { command: text } })

function startWorker(...words: readonly string[]) {
  return startPiped({ directory: createFolder(), arguments: ["worker", "--verbose", ...words] })
}

test("a task that one process has queued is run by a worker in another, which ends with 0 when it is stopped", async () => {
  const engine = await createSharedStore()
  const desk = await openDesk(engine)
  const { id: early } = await desk.tasks.start(command("echo early"))
  const worker = startWorker("--engine", engine, "--concurrency", "3")
  await worker.shows(new RegExp(`^Worker \\d+ takes tasks from ${engine}, at most 3 at once\\.\\n`))
  const { id: late } = await desk.tasks.start(command("echo late; exit 3"))
  expect((await desk.tasks.result(early, { waitMs: 20_000 })).task.status).toBe("completed")
  expect((await desk.tasks.result(late, { waitMs: 20_000 })).task.status).toBe("failed")
  const fields = `task=${late.slice(0, 8)} run=1 kind=tool title="echo late; exit 3"`
  await worker.shows(new RegExp(`run taken ${fields}\\n[^]*run left ${fields} status=failed\\n`))
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
  expect(worker.shown()).toMatch(/Worker \d+ has stopped\.\n$/)
})

test("a chat says when a worker takes a task that had to wait for one, and where", async () => {
  const engine = await createSharedStore()
  const directory = createFolder()
  const words = ["--engine", engine]
  const chat = startPiped({ directory, arguments: [...words, "--concurrency", "0"] })
  chat.type("/start sleep 3; echo waited")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is queued/)).slice(1, 9)
  await eventually("it has waited", async () => {
    const { stdout } = await runToEnd({ directory, arguments: ["tasks", ...words] })
    return /queued +(?![01](?:\.\d+)? s|\d+ ms)\d/.test(stdout)
  })
  const worker = startPiped({ directory, arguments: ["worker", ...words] })
  await chat.shows(new RegExp(`\\[${id}\\] runs now here, pid ${worker.pid}: sleep 3; echo waited\\n`))
  await chat.shows(new RegExp(`\\[${id}\\] completed`))
  chat.endInput()
  expect(await chat.exited).toBe(0)
  expect(chat.shown().match(/runs now/g)).toHaveLength(1)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("a worker that is stopped hands an agent back, and another one goes on with it", async () => {
  const engine = await createSharedStore()
  const prompt = "start an agent to count to 24 slowly"
  const asked = await runToEnd({
    directory: createFolder(),
    arguments: ["run", "--no-wait", prompt, "--engine", engine, "--concurrency", "0"],
  })
  expect(asked).toMatchObject({ exitCode: 0 })
  const first = startWorker("--engine", engine, "--kinds", "agent", "--drain", "1000")
  const id = (await first.shows(/run taken task=\w{8}.* kind=agent/)).slice("run taken task=".length).slice(0, 8)
  first.kill("SIGTERM")
  await first.shows(new RegExp(`run left task=${id}.* status=queued`))
  expect(await first.exited).toBe(0)
  const listed = await runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", engine] })
  expect(listed.stdout).toMatch(new RegExp(`^${id} {2}queued`))
  const second = startWorker("--engine", engine)
  await second.shows(new RegExp(`run left task=${id}.* status=completed`))
  second.kill("SIGINT")
  expect(await second.exited).toBe(0)
})

test("the program with the conversation open reports the result of an agent that a worker ran", async () => {
  const engine = await createSharedStore()
  const worker = startWorker("--engine", engine)
  await worker.shows(/takes tasks from/)
  const prompt = "start an agent to run `echo from-the-worker`"
  const asked = await runToEnd({
    directory: createFolder(),
    arguments: ["run", prompt, "--engine", engine, "--concurrency", "0"],
  })
  expect(asked).toMatchObject({ exitCode: 0 })
  const [, report = ""] = asked.stdout.split("Its result comes by itself")
  expect(report).toContain("from-the-worker")
  expect(worker.shown()).toMatch(/run taken .* kind=agent/)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("a run that is ended by Ctrl+C says which worker goes on with its agent, and that worker does", async () => {
  const engine = await createSharedStore()
  const worker = startWorker("--engine", engine)
  await worker.shows(/takes tasks from/)
  const words = ["run", "start an agent to count to 12 slowly", "--engine", engine]
  const asked = startPiped({ directory: createFolder(), arguments: words })
  await asked.shows(/✓ start_agent [^]*context \d+ %/)
  asked.kill("SIGINT")
  const told = await asked.shows(/\[\w{8}\] goes on with another worker \(here, pid \d+\): subagent: count to 12/)
  expect(told).toContain(`pid ${worker.pid})`)
  expect(await asked.exited).toBe(3)
  await worker.shows(new RegExp(`run left task=${told.slice(1, 9)}.* status=completed`))
})

test("a worker that drains says so, also in the list of workers; a second signal ends it at once", async () => {
  const engine = await createSharedStore()
  const desk = await openDesk(engine)
  const { id } = await desk.tasks.start(command("sleep 1000"))
  const worker = startWorker("--engine", engine, "--drain", "1000")
  await worker.shows(/run taken .*sleep 1000/)
  worker.kill("SIGTERM")
  await expect(Promise.race([worker.exited, desk.tasks.result(id, { waitMs: 500 })])).resolves.toMatchObject({
    task: { status: "running" },
  })
  await worker.shows(/takes nothing new, hands agents back, and lets other tasks .* for 16 min 40 s at most\. Another/)
  await eventually("it is listed as one that stops", async () => {
    const { stdout } = await runToEnd({ directory: createFolder(), arguments: ["workers", "--engine", engine] })
    return new RegExp(`${worker.pid} .* 1 of 10 +nothing: it stops\\n`).test(stdout)
  })
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(3)
  expect(worker.shown()).toMatch(
    /Worker \d+ ends at once\. What it ran is taken over as after a crash; [^]*data folder is started\.\n$/,
  )
  expect((await desk.tasks.get(id)).task.status).toBe("running")
})

test("a worker does not repeat a killed worker's command if it cannot see what became of it", async () => {
  const engine = await createSharedStore()
  const desk = await openDesk(engine)
  const file = join(createFolder(), "runs")
  const { id } = await desk.tasks.start(command(`echo run >> ${file}; sleep 1000`))
  const first = startWorker("--engine", engine)
  await eventually("the command runs", () => existsSync(file))
  first.kill("SIGKILL")
  await first.exited
  const second = startWorker("--engine", engine)
  await second.shows(/takes tasks/)
  const { task } = await desk.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "interrupted" })
  expect(readFileSync(file, "utf8")).toBe("run\n")
})

test("a worker takes only the kinds that its options name", async () => {
  const engine = await createSharedStore()
  const desk = await openDesk(engine)
  const { id } = await desk.tasks.start(command("echo done"))
  const prompt = "start an agent to say hello"
  const agents = startWorker("--engine", engine, "--kinds", "agent")
  await agents.shows(/takes agent tasks/)
  await runToEnd({ directory: createFolder(), arguments: ["run", prompt, "--engine", engine] })
  expect((await desk.tasks.get(id)).task.status).toBe("queued")
  const tools = startWorker("--engine", engine, "--kinds", "tool")
  expect((await desk.tasks.result(id, { waitMs: 20_000 })).task.status).toBe("completed")
  await tools.shows(/run left .*echo done" status=completed/)
})

test("a worker on the data folder of a chat takes tasks that the chat has no room for", async () => {
  const directory = createFolder()
  const environment = { MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS: "1" }
  const chat = startPiped({ directory, environment })
  chat.type("/start sleep 1000")
  await chat.shows(/is running/)
  chat.type("/start echo from the worker")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is queued/)).slice(1, 9)
  const worker = startPiped({ directory, arguments: ["worker", "--verbose"] })
  // A worker works from the moment in which its store is open, and says so a little later.
  const has = (pattern: RegExp): Promise<boolean> =>
    eventually(`the worker shows ${pattern}`, () => pattern.test(worker.shown()))
  await has(new RegExp(`takes tasks from ${directory}/.meanwhile, at most 10 at once`))
  await has(new RegExp(`run left task=${id}.* status=completed`))
  await chat.shows(new RegExp(`\\[${id}\\] completed in`))
  chat.type(`/output ${id}`)
  await chat.shows(/^from the worker/m)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("wrong options are refused with 2", async () => {
  const directory = createFolder()
  for (const words of [
    ["--concurrency", "0"],
    ["--concurrency", "many"],
    ["--concurrency", "-1"],
    ["--concurrency", "99999999999999999999"],
    ["--kinds", "turn"],
    ["--drain", "-1"],
  ]) {
    const { exitCode, stderr } = await runToEnd({ directory, arguments: ["worker", ...words] })
    expect(exitCode, words.join(" ")).toBe(2)
    expect(stderr).toMatch(/whole number from 1 to 100000|tool and agent|number of seconds/)
    expect(stderr).toContain("(meanwhile worker --help shows how it is used)")
  }
})
