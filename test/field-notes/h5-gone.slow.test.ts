import { copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { eventually } from "../support/eventually.ts"
import { startPiped } from "../support/program.ts"
import { openSubagents, spawn } from "../support/session/open-subagents.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder, createWorkplace } from "../support/workplace.ts"

const NOTE = "H5. A store or an output file that was deleted or replaced under a running program is noticed and said"

test(`${NOTE}: by a worker whose data folder was removed, which then ends`, async () => {
  const directory = createFolder()
  const worker = startPiped({ directory, arguments: ["worker"] })
  await worker.shows(/takes tasks from/)
  rmSync(join(directory, ".meanwhile"), { recursive: true })
  await worker.shows(/The store \S+store\.sqlite was deleted while this program had it open\. Nothing more is stored/)
  expect(await worker.exited).toBe(3)
  expect(existsSync(join(directory, ".meanwhile", "store.sqlite"))).toBe(false)
})

test(`${NOTE}: by a chat whose store was replaced, which then takes nothing and can be left`, async () => {
  const directory = createFolder()
  const store = join(directory, ".meanwhile", "store.sqlite")
  const chat = startPiped({ directory })
  chat.type("say first")
  await chat.shows(/first\s[^]*tokens/)
  copyFileSync(store, `${store}.earlier`)
  renameSync(`${store}.earlier`, store)
  await chat.shows(/The store \S+store\.sqlite was replaced by another file while this program had it open\./)
  chat.type("say second")
  await chat.shows(/put the right file in place, and start again/)
  chat.type("/quit")
  await chat.exited
  expect(chat.shown()).not.toMatch(/second\s[^]*tokens/)
})

test(`${NOTE}: by the task whose output file was deleted while its command ran`, async () => {
  const warned = Promise.withResolvers<string>()
  const log = { ...silentLog, warn: warned.resolve }
  const { directory, meanwhile } = await createWorkplace({ log })
  const go = join(directory, "go")
  const command = `echo printed; until [ -e ${go} ]; do sleep 0.02; done; echo went on; touch ${go}.on`
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input: { command } })
  await eventually("it prints", async () => (await meanwhile.tasks.output(id)).text.includes("printed"))
  rmSync(join(directory, "data", "spool", id, "1", "output"))
  expect(await warned.promise).toBe("the output of a task is lost")
  writeFileSync(go, "")
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "failed", failure: { code: "store_gone" } })
  const gone = { text: "", totalBytes: 0, droppedBefore: "all", isComplete: false }
  expect(await meanwhile.tasks.output(id)).toMatchObject(gone)
  const { followOutput } = meanwhile.desk({ workspace: DEFAULT_WORKSPACE, actor: "person" }).tasks
  const followed = await Array.fromAsync(followOutput(id, {}))
  expect(followed).toMatchObject([gone])
  expect(existsSync(`${go}.on`)).toBe(true)
})

test(`${NOTE}: by a library, in whose log it is said once`, async () => {
  const lines: string[] = []
  const say = (line: string): void => void lines.push(line)
  const clock = createManualClock()
  const { directory, meanwhile } = await createWorkplace({
    clock,
    tools: [echo],
    log: { ...silentLog, warn: say, error: say },
  })
  await meanwhile.createSession()
  rmSync(join(directory, "data", "store.sqlite"))
  await expect(meanwhile.tasks.start({ tool: "echo", input: {} })).rejects.toMatchObject({ code: "store_gone" })
  for (let second = 0; second < 600; second++) {
    clock.advance(1_000)
    await setImmediate()
  }
  expect(lines).toEqual(["nothing more can be done without the store"])
})

test(`${NOTE}: by a conversation whose agent works in the foreground: its turn ends, and nothing hangs`, async () => {
  const gated = createGatedTool()
  const dataDirectory = join(createFolder(), "data")
  const below = [{ calls: [{ tool: "gated" }] }, "Worked."]
  const { session } = await openSubagents({
    main: [spawn("Work."), "Done."],
    below,
    tools: [gated.tool],
    dataDirectory,
  })
  const turn = session.send("go")
  const call = await gated.call(1)
  rmSync(join(dataDirectory, "store.sqlite"))
  call.finish()
  await expect(turn).rejects.toMatchObject({ code: "store_gone" })
})
