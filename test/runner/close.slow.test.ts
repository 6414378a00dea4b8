import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import { withPatience } from "../support/patience.ts"
import { endProcessesAfterTest, processesOf } from "../support/processes.ts"
import { testOfFile } from "../support/test-engine.ts"
import { createWorkplace } from "../support/workplace.ts"

const SOURCE = join(import.meta.dirname, "..", "..", "src")
const NOBODY = 65_534

/** Runs a program that imports Meanwhile, and returns what it printed once it has ended by itself. */
async function run(folder: string, program: string, options: { uid?: number } = {}): Promise<string> {
  const path = join(folder, "program.ts")
  writeFileSync(path, `import { createRuntime } from ${JSON.stringify(join(SOURCE, "app.ts"))}\n${program}`)
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"], ...options })
  onTestFinished(() => void child.kill("SIGKILL"))
  const ended = Promise.all([text(child.stdout), new Promise((resolve) => child.once("exit", resolve))])
  const [printed] = await withPatience(ended, () => `The program has not ended:\n${program}`)
  return printed
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-test-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

testOfFile("nothing keeps a process alive once its Meanwhile is closed, whatever was asked of it", async () => {
  const folder = createFolder()
  const program = `
    const { createShellPlugin } = await import(${JSON.stringify(join(SOURCE, "builtin/shell/shell-plugin.ts"))})
    const shell = createShellPlugin({ workingDirectory: ${JSON.stringify(folder)}, environment: { PATH: process.env.PATH } })
    const m = await createRuntime({ dataDirectory: ${JSON.stringify(join(folder, "data"))}, plugins: [shell] })
    const call = { tool: "run_command", input: { command: "sleep 60" } }
    const { id } = await m.tasks.start(call)
    const waits = [
      m.tasks.result(id, { waitMs: 600_000 }),
      m.tasks.waitForOutput(id, { pattern: /never/, timeoutMs: 600_000 }),
      m.tasks.execute(call, { onOutput() {} }).answer,
      m.tasks.execute({ ...call, idempotencyKey: "k" }).answer,
      m.tasks.start({ ...call, delayMs: 600_000 }),
    ]
    await new Promise((resolve) => setTimeout(resolve, 300))
    await m.close()
    const settled = await Promise.allSettled(waits)
    console.log("closed", settled.length)
  `
  const stopwatch = createOwnStopwatch()
  expect(await run(folder, program)).toBe("closed 5\n")
  expect(stopwatch.elapsedMs()).toBeLessThan(20_000)
})

test("a process of lifetime forever is left running, and the next program watches it", async () => {
  const { meanwhile, another } = await createWorkplace({ background: { leaseSeconds: 1 } })
  const call = { tool: "run_command", input: { command: "echo begun; sleep 60" } }
  const forever = await meanwhile.tasks.start({ ...call, lifetime: "forever" })
  const runtime = await meanwhile.tasks.start(call)
  endProcessesAfterTest(`MEANWHILE_TASK=${forever.id}`)
  for (const { id } of [forever, runtime])
    await meanwhile.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 30_000 })
  await meanwhile.close()
  expect(processesOf(runtime.id)).toEqual([])
  expect(processesOf(forever.id).length).toBeGreaterThan(0)
  const second = await another({ background: { leaseSeconds: 1 } })
  const before = await second.tasks.get(forever.id)
  expect(before.task.status).toBe("running")
  await second.tasks.cancel(forever.id)
  expect((await second.tasks.result(forever.id, { waitMs: 30_000 })).task.status).toBe("cancelled")
  expect(processesOf(forever.id)).toEqual([])
})

testOfFile("a folder that this user cannot write is refused with one clear error, and nothing is written", async () => {
  const folder = createFolder()
  const dataDirectory = join(folder, "data")
  await (await createRuntime({ dataDirectory })).close()
  const isRoot = process.getuid?.() === 0
  chmodSync(folder, 0o755)
  chmodSync(dataDirectory, isRoot ? 0o755 : 0o555)
  chmodSync(join(dataDirectory, "store.sqlite"), isRoot ? 0o644 : 0o444)
  const before = readdirSync(dataDirectory)
  const program = `
    try {
      await createRuntime({ dataDirectory: ${JSON.stringify(dataDirectory)} })
    } catch (error) {
      console.log(error.name, error.code, /Give this user write access/.test(error.message))
    }
  `
  const printed = await run(folder, program, isRoot ? { uid: NOBODY } : {})
  expect(printed).toBe("MeanwhileError store_read_only true\n")
  expect(readdirSync(dataDirectory)).toEqual(before)
})
