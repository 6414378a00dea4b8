import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import type { Runner } from "../../src/runner/runner.ts"
import { describePlace } from "../../src/cli/question/inbox.ts"
import { inboxCommand } from "../../src/cli/command/inbox-commands.ts"
import { systemClock } from "../../src/base/clock.ts"
import { isAskedElsewhere } from "../../src/desk/asking-place.ts"
import { createDesk } from "../../src/desk/desk.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createTask, RUNNING, sampleWait, WORKER } from "../../src/engine/suite/samples.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { showCommand } from "../support/show-command.ts"
import { createFolder } from "../support/workplace.ts"

/** A call of an agent that waits for its approval, while the agent runs on this worker. */
async function openAsking(worker: { readonly host: string | null; readonly where: "machine" | "elsewhere" }) {
  const engine = await openTestEngine(createFolder())
  const { id: parentTask } = await createTask(engine, RUNNING, { kind: "agent" })
  const tasks = { workers: async () => [{ id: WORKER, pid: 7, running: 1, announcement: null, ...worker }] }
  const { store } = engine
  const place = { store, tasks: tasks as unknown as Runner }
  const { signal: closing } = new AbortController()
  const parts = { ...place, bus: engine.bus, clock: systemClock, closing, isShared: true }
  const list = async () => []
  const unused = {
    onAgentEvent: () => () => undefined,
    directory: () => ({ list: async () => ({ items: [] }) }),
    promote: list,
    dataDirectory: "",
    storePlace: "",
    runsTasks: false,
  }
  const desk = createDesk(LOCAL_PERSON, { ...parts, ...unused })
  const ask = (folder: string | null, question = {}): Promise<TaskRecord> =>
    createTask(engine, { as: "waiting", wait: sampleWait({ reason: "approval", question }) }, { parentTask, folder })
  return { desk, place, ask }
}

test("an approval for an agent on another machine names its folder and the machine", async () => {
  const { desk, ask } = await openAsking({ host: "build-1", where: "elsewhere" })
  expect(await describePlace(desk, await ask("/srv/work"))).toEqual(["in /srv/work, asked for on build-1"])
  expect(await describePlace(desk, await ask(process.cwd()))).toEqual([`in ${process.cwd()}, asked for on build-1`])
  expect(await describePlace(desk, await ask(null))).toEqual(["asked for on build-1"])
})

test("on this machine only another folder is named", async () => {
  const { desk, ask } = await openAsking({ host: "here", where: "machine" })
  expect(await describePlace(desk, await ask("/srv/work"))).toEqual(["in /srv/work"])
  expect(await describePlace(desk, await ask(process.cwd()))).toEqual([])
})

test("a call that is asked for in this folder belongs here, unless its agent is on another machine", async () => {
  const isElsewhere = async (where: "machine" | "elsewhere", folder: string | null, isShared = true) => {
    const { place, ask } = await openAsking({ host: "build-1", where })
    return isAskedElsewhere({ ...place, isShared }, await ask(folder), process.cwd())
  }
  const here = process.cwd()
  expect(await isElsewhere("machine", here)).toBe(false)
  expect(await isElsewhere("machine", join(here, "..inside"))).toBe(false)
  expect(await isElsewhere("machine", dirname(here))).toBe(true)
  expect(await isElsewhere("machine", `${here}-beside`)).toBe(true)
  expect(await isElsewhere("elsewhere", here)).toBe(true)
  // A call without a folder runs anywhere, and the store of a data folder belongs to one machine.
  expect(await isElsewhere("elsewhere", null)).toBe(false)
  expect(await isElsewhere("machine", dirname(here), false)).toBe(false)
})

test.each([
  ["machine", "in /srv/work"],
  ["elsewhere", "in /srv/work, asked for on build-1"],
] as const)("the inbox names a folder once when whoever asks is on this %s", async (where, place) => {
  const { desk, ask } = await openAsking({ host: "build-1", where })
  await ask("/srv/work", { kind: "may_it_run", text: "May it run?", detail: "ls -l\nin /srv/work" })
  const lines = (await showCommand(inboxCommand, "", { desk: () => desk } as unknown as Runtime))
    .split("\n")
    .map((line) => line.trim())
  expect(lines.filter((line) => line.startsWith("in "))).toEqual([place])
  expect(lines).toContain("ls -l")
})
