import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { createRuntime } from "../../src/app.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { keep, openLeaving, startCommand, UNTIL_TOLD } from "../support/cli/leaving-chat.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive } from "../support/processes.ts"
import { runToEnd, startPiped } from "../support/program.ts"

/** A person is asked, and what is always allowed holds for agents, too. */
const GRANTING = { MEANWHILE_PERMISSIONS_MODE: "default", MEANWHILE_PERMISSIONS_INHERIT: "true" }

const readTasks = async (directory: string, ...words: readonly string[]) =>
  (await runToEnd({ directory, arguments: words })).stdout

test("a keeper that is killed loses nothing: the next chat goes on with the work", async () => {
  const { directory, startChat, startPipe, readPid, finish } = await openLeaving()
  const chat = await startChat()
  const id = await startCommand(chat)
  const pid = await readPid()
  chat.type("/quit")
  const keeper = await keep(chat)
  expect(await chat.exited).toBe(0)
  expect(await readTasks(directory, "tasks")).toContain(`A keeper (here, pid ${keeper}) runs 1 task`)
  expect(await readTasks(directory, "workers")).toMatch(new RegExp(` ${keeper} .*until idle`))
  const looking = startPipe(["--concurrency", "0"])
  await looking.shows(new RegExp(`kept: 1 task goes on with the keeper \\(pid ${keeper}\\)`))
  looking.type("/quit")
  expect(await looking.exited).toBe(0)
  process.kill(keeper, "SIGKILL")
  await eventually("it is gone", () => !isAlive(keeper))
  expect(isAlive(pid)).toBe(true)
  const next = startPipe()
  await next.shows(/1 task goes on from before/)
  next.endInput()
  const finished = finish()
  await next.shows(new RegExp(`\\[${id}\\] completed`))
  expect(await next.exited).toBe(0)
  await finished
})

test("a chat that comes back to kept work names it when it is left again, and can stop it", async () => {
  const { startChat, startPipe, readPid } = await openLeaving()
  const chat = await startChat()
  chat.type(`start \`${UNTIL_TOLD}\` in the background`)
  const id = (await chat.shows(/started [0-9a-f]{8}: [^]*context \d+ %/)).slice(8, 16)
  const pid = await readPid()
  chat.type("/quit")
  await keep(chat)
  const back = ["--resume", (await chat.shows(/To come back: meanwhile --resume [0-9a-f]{8}/)).slice(-8)]
  expect(await chat.exited).toBe(0)
  const looking = startPipe(back)
  await looking.shows(/with the keeper/)
  looking.type("/quit")
  await looking.shows(
    new RegExp(
      `1 task goes on with other programs:\\n  \\[${id}\\] .*\\nTo see it: meanwhile tasks\\. To come back: meanwhile ${back.join(" ")}`,
    ),
  )
  expect(await looking.exited).toBe(0)
  expect(isAlive(pid)).toBe(true)
  const stopping = startPipe([...back, "--on-exit", "stop"])
  await stopping.shows(/with the keeper/)
  stopping.type("/quit")
  await stopping.shows(new RegExp(`Cancelling 1 task\\.[^]*\\[${id}\\]`))
  expect(await stopping.exited).toBe(0)
  await eventually("the command is gone", () => !isAlive(pid))
})

test("an answer that waits for a decision goes on with a keeper, where there is one, and asks in the inbox", async () => {
  const { directory, startChat, readPid, finish } = await openLeaving({ MEANWHILE_PERMISSIONS_MODE: "default" })
  const chat = await startChat()
  await startCommand(chat)
  await readPid()
  chat.type("write file notes.txt with hi")
  await chat.asks(/Allow writeNewFile\?/)
  chat.type("/quit")
  await keep(chat)
  await chat.shows(/The answer goes on with the keeper\. What it asks you waits in the inbox: meanwhile tasks inbox/)
  expect(await chat.exited).toBe(0)
  await eventually("it is asked in the inbox", async () =>
    (await readTasks(directory, "tasks", "inbox")).includes("Allow writeNewFile"),
  )
  await finish()
})

test("a chat in which nothing was said names no conversation to come back to", async () => {
  const { startChat, startPipe, readPid, finish, tellsOnce } = await openLeaving()
  const other = startPipe()
  other.type("say something else")
  other.endInput()
  expect(await other.exited).toBe(0)
  const chat = await startChat()
  const id = await startCommand(chat)
  await readPid()
  chat.type("/quit")
  await keep(chat)
  await chat.shows(/To come back: meanwhile\r\n/)
  expect(await chat.exited).toBe(0)
  await finish()
  await tellsOnce([id])
})

test("of two chats that are left at once one starts a keeper that stays, and it finishes the work of both", async () => {
  const { directory, startPipe, readPid, finish, tellsOnce } = await openLeaving()
  const chats = [startPipe(), startPipe()] as const
  const ids = [await startCommand(chats[0]), await startCommand(chats[1], UNTIL_TOLD.replace("pid", "other.pid"))]
  await Promise.all([readPid(), readPid("other.pid")])
  for (const chat of chats) chat.type("/quit")
  expect(await Promise.all(chats.map(({ exited }) => exited))).toEqual([0, 0])
  const workers = await eventually("one keeper is left", async () => {
    const lines = (await readTasks(directory, "workers", "--json")).trim().split("\n")
    const views = lines.map((line) => JSON.parse(line) as { endsWhenIdle: boolean; running: number; isSilent: boolean })
    return views.filter(({ isSilent }) => !isSilent).length === 1 && views
  })
  expect(workers).toMatchObject([{ endsWhenIdle: true }])
  await finish()
  await tellsOnce(ids)
})

test("a keeper leaves questions and commands without a limit alone, and ends", async () => {
  const { directory, startPipe, readPid, finish } = await openLeaving()
  const chat = startPipe()
  chat.type("/start --forever echo $$ > pid; until test -e go; do sleep 0.05; done")
  const pid = await readPid()
  chat.type("start an agent to ask me which colour: red or blue")
  await chat.shows(/Answer: \/answer/)
  const short = await startCommand(chat, "echo $$ > short.pid; until test -e soon; do sleep 0.05; done")
  await readPid("short.pid")
  chat.type("/quit")
  const [, keeper = ""] = /keeper \(pid (\d+)\)/.exec(await chat.shows(/keeper \(pid \d+\):/)) ?? []
  expect(await chat.exited).toBe(0)
  const ending = startPiped({ directory, arguments: ["tasks", "output", short, "--follow"] })
  await runToEnd({ directory, arguments: ["run", "run `touch soon`", "--yes"] })
  expect(await ending.exited).toBe(0)
  await eventually("the keeper has ended", () => !isAlive(Number(keeper)))
  expect(isAlive(pid)).toBe(true)
  const listed = await readTasks(directory, "tasks")
  expect(listed).toMatch(new RegExp(`^${short} +completed`, "m"))
  expect(listed).toMatch(/waiting .*which colour/)
  expect(listed).toMatch(/running .*until test -e go/)
  await finish()
})

test("a chat that starts no keeper says why: only commands without a limit are left, or another chat takes the work", async () => {
  const { startPipe, readPid, finish } = await openLeaving()
  const chat = startPipe()
  chat.type("/start --forever echo $$ > pid; until test -e go; do sleep 0.05; done")
  await readPid()
  chat.type("/quit")
  await chat.shows(/No keeper was started: nothing but commands without a time limit is left\./)
  expect(await chat.exited).toBe(0)
  const [leaving, staying] = [startPipe(), startPipe()] as const
  await startCommand(staying, UNTIL_TOLD.replace("pid", "staying.pid"))
  await startCommand(leaving, UNTIL_TOLD.replace("pid", "leaving.pid"))
  await readPid("leaving.pid")
  leaving.type("/quit")
  await leaving.shows(
    new RegExp(`No keeper was started: another program takes the work \\(here, pid ${staying.pid}\\)`),
  )
  expect(await leaving.exited).toBe(0)
  staying.type("/quit")
  expect(await staying.exited).toBe(0)
  await finish()
})

test("the person is told when a keeper cannot be started, and what was kept is found at the next start", async () => {
  const { directory, startPipe, readPid, finish } = await openLeaving()
  const chat = startPipe(["--concurrency", "3"])
  await startCommand(chat)
  const pid = await readPid()
  // A keeper appends to its log, and cannot to a folder.
  await runToEnd({ directory, arguments: ["run", "run `mkdir .meanwhile/keeper.log`", "--yes"] })
  chat.type("/quit")
  await chat.shows(
    /at the next start of a chat or a worker: the keeper could not be started, .*By hand: meanwhile worker --until-idle/,
  )
  expect(await chat.exited).toBe(0)
  expect(isAlive(pid)).toBe(true)
  const worker = startPiped({ directory, arguments: ["worker", "--until-idle"] })
  await worker.shows(/takes tasks from/)
  const finished = finish()
  expect(await worker.exited).toBe(0)
  await finished
  expect(await readTasks(directory, "tasks")).toMatch(/completed/)
})

test("a run that does not wait leaves its work to a keeper, and the next chat tells the result once", async () => {
  const { directory, startRun, readPid, finish, tellsOnce } = await openLeaving()
  const run = startRun(`start \`${UNTIL_TOLD}\` in the background`, "--no-wait")
  const [id = ""] = /[0-9a-f]{8}(?=\])/.exec(await run.shows(/with a keeper \(pid \d+\):\n {2}\[[0-9a-f]{8}\]/)) ?? []
  expect(await run.exited).toBe(0)
  expect(isAlive(await readPid())).toBe(true)
  await finish()
  expect(await readTasks(directory, "tasks")).toMatch(new RegExp(`^${id} +completed`, "m"))
  expect(await tellsOnce([id])).toContain("the last words")
})

test("a keeper has no grant of the chat that it follows: what needs one waits in the inbox", async () => {
  const { directory, startChat, finish } = await openLeaving(GRANTING)
  const chat = await startChat()
  chat.type("write file first.txt with x")
  await chat.asks(/Allow writeNewFile\? It writes\.[\s\S]*3\) always in this session/)
  chat.type("a")
  await chat.shows(/✓ writeNewFile[\s\S]*context \d+ %/)
  chat.type("start an agent to write file granted.txt with x")
  await eventually("the grant holds for agents", () => existsSync(join(directory, "granted.txt")))
  chat.type("start an agent to `count to 20 slowly and then write file kept.txt with x`")
  await chat.shows(/subagent 2: thinking…/)
  chat.type("/quit")
  await keep(chat)
  expect(await chat.exited).toBe(0)
  await finish()
  expect(existsSync(join(directory, "kept.txt"))).toBe(false)
  const listed = await readTasks(directory, "tasks", "inbox")
  expect(listed).toMatch(/Allow writeNewFile/)
  const [, id = ""] = /Answer: meanwhile tasks answer ([0-9a-f]{8})/.exec(listed) ?? []
  await readTasks(directory, "tasks", "answer", id, "yes")
  expect(existsSync(join(directory, "kept.txt"))).toBe(true)
})

test("a task whose tool no keeper has waits in the queue, says so, and holds no keeper up", async () => {
  const { directory, startPipe, readPid, finish } = await openLeaving()
  const bread = await queueBread(directory)
  const chat = startPipe()
  await startCommand(chat)
  await readPid()
  chat.type("/quit")
  await chat.shows(/with a keeper \(pid \d+\)/)
  expect(await chat.exited).toBe(0)
  expect(await readTasks(directory, "tasks")).toMatch(
    new RegExp(`^${bread} +queued .*no worker has the plugin kitchen`, "m"),
  )
  await finish()
  expect(await readTasks(directory, "tasks")).toMatch(new RegExp(`^${bread} +queued `, "m"))
})

/** A program of somebody's own has a tool that no chat knows, and leaves a task for it. */
async function queueBread(directory: string): Promise<string> {
  const oven = defineTool({ name: "oven", description: "Bakes.", input: z.object({}), run: async () => "bread" })
  await using own = await createRuntime({
    dataDirectory: join(directory, ".meanwhile"),
    plugins: [definePlugin({ kind: "tool", name: "kitchen", tools: [oven] })],
    takesWork: false,
  })
  return (await own.tasks.start({ tool: "oven", input: {} })).id.slice(0, 8)
}
