import { expect, test } from "vitest"
import { limitCommand } from "../../src/cli/command/limit-command.ts"
import { startCommand } from "../../src/cli/command/run-commands.ts"
import { taskCommand } from "../../src/cli/command/task-commands.ts"
import { createGatedTool } from "../support/tools.ts"
import { showCommand } from "../support/show-command.ts"
import { createWorkplace } from "../support/workplace.ts"

async function open(background = {}) {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background })
  const newest = async () => (await meanwhile.tasks.list({})).items[0]
  return {
    meanwhile,
    newest,
    begin: () => meanwhile.tasks.start({ tool: "gated", input: {} }),
    start: (argument: string) => showCommand(startCommand, argument, meanwhile),
    limit: (argument: string) => showCommand(limitCommand, argument, meanwhile),
    show: (id: string) => showCommand(taskCommand, id, meanwhile),
  }
}

test.each([
  ["--limit 2h sleep 60", { lifetime: "runtime", timeoutMs: 7_200_000 }, "for 2 h 0 min at most;"],
  ["--limit=90 sleep 60", { lifetime: "runtime", timeoutMs: 90_000 }, "for 1 min 30 s at most;"],
  ["--forever sleep 60", { lifetime: "forever", timeoutMs: null }, "in the background, also without this program;"],
  [
    "--forever --limit 50d sleep 60",
    { lifetime: "forever", timeoutMs: 4_320_000_000 },
    "for 1200 h 0 min at most, also",
  ],
  ["--limit none -- sleep 60", { lifetime: "runtime", timeoutMs: null }, "in the background;"],
  ["sleep 60 --limit 5", { lifetime: "runtime", timeoutMs: 300_000 }, "for 5 min 0 s at most;"],
])("/start %s", async (argument, { lifetime, timeoutMs }, said) => {
  const { start, newest, meanwhile } = await open()
  expect(await start(argument)).toContain(said)
  const task = await newest()
  expect(task).toMatchObject({ lifetime, limits: { timeoutMs } })
  expect(task?.title).toMatch(/^sleep 60/)
  await meanwhile.tasks.cancel(task?.id ?? "")
  await meanwhile.tasks.result(task?.id ?? "", { waitMs: 30_000 })
})

test("/start refuses options and times that it does not know, and starts nothing", async () => {
  const { start, newest } = await open()
  await expect(start("--limt 2h sleep 60")).rejects.toThrow('does not understand "--limt"')
  await expect(start("--limit soon sleep 60")).rejects.toThrow('"soon" is no time that can be read')
  await expect(start("--limit")).rejects.toThrow("is no time that can be read")
  expect(await start("--forever")).toContain("Say what to start")
  expect(await newest()).toBeUndefined()
})

test("/limit changes the limit of a live task, which /task names", async () => {
  const { begin, limit, show } = await open()
  const { id } = await begin()
  expect(await show(id)).toMatch(/^limit +5 min 0 s$/m)
  expect(await limit(`${id} 1h 30m`)).toBe(`[${id.slice(0, 8)}] may run for 1 h 30 min in all now\n`)
  expect(await show(id)).toMatch(/^limit +1 h 30 min$/m)
  expect(await limit(`${id} none`)).toBe(`[${id.slice(0, 8)}] has no time limit now\n`)
  expect(await show(id)).toMatch(/^limit +none$/m)
  expect(await limit(id)).toContain(`for example: /limit ${id} 2h`)
  expect(await limit("")).toContain("Say which task: /limit ID")
  await expect(limit(`${id} quick`)).rejects.toMatchObject({ code: "invalid_input" })
})

test("/limit says when the configuration allows less", async () => {
  const { begin, limit } = await open({ timeoutOverrideSeconds: 60 })
  const { id } = await begin()
  const most = "may run for 1 min 0 s in all now: the configuration allows no more"
  expect(await limit(`${id} 2h`)).toContain(most)
  expect(await limit(`${id} none`)).toContain(most)
  expect(await limit(`${id} 30s`)).toMatch(/may run for 30\.0 s in all now\n$/)
})
