import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { describePlace, isAskedElsewhere } from "../../src/cli/asked-place.ts"
import { inboxCommand } from "../../src/cli/command/inbox-commands.ts"
import { createTask, RUNNING, sampleWait, WORKER } from "../../src/engine/suite/samples.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { showCommand } from "../support/show-command.ts"
import { createFolder } from "../support/workplace.ts"

/** A call of an agent that waits for its approval, where the agent runs on this worker. */
async function openAsking(worker: { readonly host: string | null; readonly where: "machine" | "elsewhere" }) {
  const engine = await openTestEngine(createFolder())
  const { id: parentTask } = await createTask(engine, RUNNING, { kind: "agent" })
  const tasks = { workers: async () => [{ id: WORKER, pid: 7, running: 1, announcement: null, ...worker }] }
  const meanwhile = { engine, tasks } as unknown as Runtime
  const ask = (folder: string | null, question = {}): Promise<TaskRecord> =>
    createTask(engine, { as: "waiting", wait: sampleWait({ reason: "approval", question }) }, { parentTask, folder })
  return { meanwhile, ask }
}

test("an approval for an agent on another machine names its folder and the machine", async () => {
  const { meanwhile, ask } = await openAsking({ host: "build-1", where: "elsewhere" })
  expect(await describePlace(meanwhile, await ask("/srv/work"))).toEqual(["in /srv/work, asked for on build-1"])
  expect(await describePlace(meanwhile, await ask(process.cwd()))).toEqual([
    `in ${process.cwd()}, asked for on build-1`,
  ])
  expect(await describePlace(meanwhile, await ask(null))).toEqual(["asked for on build-1"])
})

test("on this machine only another folder is named", async () => {
  const { meanwhile, ask } = await openAsking({ host: "here", where: "machine" })
  expect(await describePlace(meanwhile, await ask("/srv/work"))).toEqual(["in /srv/work"])
  expect(await describePlace(meanwhile, await ask(process.cwd()))).toEqual([])
})

test("what is asked for in this folder is meant for it, unless whoever asks is on another machine", async () => {
  const isElsewhere = async (where: "machine" | "elsewhere", folder: string | null, name = "postgres") => {
    const { meanwhile, ask } = await openAsking({ host: "build-1", where })
    const shared = { ...meanwhile, engine: { ...meanwhile.engine, name } }
    return isAskedElsewhere(shared, await ask(folder))
  }
  const here = process.cwd()
  expect(await isElsewhere("machine", here)).toBe(false)
  expect(await isElsewhere("machine", join(here, "..inside"))).toBe(false)
  expect(await isElsewhere("machine", dirname(here))).toBe(true)
  expect(await isElsewhere("machine", `${here}-beside`)).toBe(true)
  expect(await isElsewhere("elsewhere", here)).toBe(true)
  // What needs no folder runs anywhere, and the store of a data folder is of one machine.
  expect(await isElsewhere("elsewhere", null)).toBe(false)
  expect(await isElsewhere("machine", dirname(here), "embedded")).toBe(false)
})

test.each([
  ["machine", "in /srv/work"],
  ["elsewhere", "in /srv/work, asked for on build-1"],
] as const)("the inbox names a folder once when whoever asks is on this %s", async (where, place) => {
  const { meanwhile, ask } = await openAsking({ host: "build-1", where })
  await ask("/srv/work", { kind: "may_it_run", text: "May it run?", detail: "ls -l\nin /srv/work" })
  const lines = (await showCommand(inboxCommand, "", meanwhile)).split("\n").map((line) => line.trim())
  expect(lines.filter((line) => line.startsWith("in "))).toEqual([place])
  expect(lines).toContain("ls -l")
})
