import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { echo } from "../support/tools.ts"
import { createFolder, createWorkplace } from "../support/workplace.ts"

const CAP = 8_000_000
/** Ascending numbers without an end: what is kept can be told to be the newest, without a gap. */
const ENDLESS = "exec seq 1 1000000000000"

describe("B2. An endless writer meets the cap; the newest output is kept; the disk is not filled", () => {
  test("while Meanwhile watches", async () => {
    const { meanwhile, directory } = await createWorkplace({ background: { stopGraceSeconds: 0.3 } })
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command: ENDLESS }, outputLimitBytes: CAP })
    let largest = 0
    // How much is written between two looks depends on the machine. Without a cap all of it would be kept.
    const hasPrintedMuch = async (): Promise<boolean> => {
      largest = Math.max(largest, sizeOf(join(directory, "data", "spool", id)))
      if (largest > CAP * 200) throw new Error(`${largest} bytes are kept`)
      const { outputBytes } = await tasks.get(id)
      return outputBytes > CAP * 50 && outputBytes > largest * 3
    }
    await eventually("it printed fifty times the cap, and three times what was ever kept", hasPrintedMuch, 240_000)
    await tasks.cancel(id)
    const { task, outputBytes } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    const first = await tasks.output(id)
    expect(first.offset).toBe(first.droppedBefore)
    let text = first.text
    for (let chunk = first; !chunk.isComplete; text += chunk.text) {
      chunk = await tasks.output(id, { offset: chunk.nextOffset, limitBytes: CAP })
      expect(chunk.droppedBefore).toBeNull()
    }
    expect(first.offset + Buffer.byteLength(text)).toBe(outputBytes)
    expect(Buffer.byteLength(text)).toBeGreaterThanOrEqual(CAP / 2)
    expectConsecutive(text)
    const dropped = (await meanwhile.engine.store.events(task.id, 0, 1_000)).filter(
      ({ body }) => body.type === "output.dropped",
    )
    expect(dropped.length).toBeGreaterThan(0)
  })

  test("written by a tool inside Meanwhile", async () => {
    const chatty = defineTool({
      name: "chatty",
      description: "Prints a lot.",
      input: z.object({}),
      background: { mode: "always" },
      async run(_input, { output }) {
        for (let number = 0; number < 400_000; number++) {
          output.write(`${number}\n`)
          if (number % 1_000 === 0) await new Promise(setImmediate)
        }
        return null
      },
    })
    const { meanwhile, directory } = await createWorkplace({ tools: [chatty] })
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "chatty", input: {}, outputLimitBytes: 100_000 })
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task.status).toBe("completed")
    const { text, droppedBefore } = await tasks.output(id, { limitBytes: 1_000_000 })
    expect(droppedBefore).toBeGreaterThan(0)
    expect(text.endsWith("399998\n399999\n")).toBe(true)
    expectConsecutive(text)
    expect(sizeOf(join(directory, "data", "spool", id))).toBeLessThanOrEqual(200_000)
  })

  test("while Meanwhile is down, a task past four times the cap is stopped", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const command = "while :; do head -c 100000 /dev/zero | tr '\\0' x; sleep 0.01; done"
    const [id = ""] = await worker.start([
      { tool: "run_command", input: { command }, outputLimitBytes: 1_000_000, lifetime: "forever" },
    ])
    await eventually("it prints", () => sizeOf(join(directory, "data", "spool", id)) > 0)
    await worker.kill()
    await eventually("it is stopped", () => processesOf(id).length === 0)
    // The guard looks once a second, so about a second of output may come on top.
    expect(sizeOf(join(directory, "data", "spool", id))).toBeLessThan(40_000_000)
  })
})

/** `/dev/full` answers every write as a full disk does. A command on a full disk is tested beside the spool. */
describe.runIf(process.platform === "linux")(
  "B2. A full disk fails that task with a clear error and nothing else",
  () => {
    test("of a tool inside Meanwhile", async () => {
      const folder = { path: "" }
      const unlucky = defineTool({
        name: "unlucky",
        description: "Prints to a disk that is full.",
        input: z.object({}),
        background: { mode: "always" },
        async run(_input, { output, taskId, run }) {
          const spool = join(folder.path, "data", "spool", taskId, String(run))
          mkdirSync(spool, { recursive: true })
          symlinkSync("/dev/full", join(spool, "output"))
          output.write("this does not fit\n")
          return "worked"
        },
      })
      const { meanwhile, directory } = await createWorkplace({ tools: [unlucky, echo] })
      folder.path = directory
      const { tasks } = meanwhile
      const failing = await tasks.start({ tool: "unlucky", input: {} })
      const beside = await tasks.start({ tool: "run_command", input: { command: "echo all is well" } })
      const { task } = await tasks.result(failing.id, { waitMs: 20_000 })
      expect(task).toMatchObject({
        status: "failed",
        failure: { code: "disk_full", message: expect.stringMatching(/disk is full.*Free some space/) as string },
      })
      expect((await tasks.result(beside.id, { waitMs: 20_000 })).task.status).toBe("completed")
      const after = await tasks.start({ tool: "echo", input: { value: 1 } })
      expect((await tasks.result(after.id, { waitMs: 20_000 })).task.status).toBe("completed")
    })
  },
)

function sizeOf(directory: string): number {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .map((name) => statSync(join(directory, name), { throwIfNoEntry: false }))
      .reduce((sum, entry) => sum + (entry?.isFile() ? entry.size : 0), 0)
  } catch {
    return 0
  }
}

/** The first line may be cut, and the last one when the writer was killed. */
function expectConsecutive(text: string): void {
  const numbers = text.split("\n").slice(1, -1).map(Number)
  expect(numbers.length).toBeGreaterThan(1_000)
  const gap = numbers.findIndex((number, index) => index > 0 && number !== (numbers[index - 1] ?? 0) + 1)
  expect(gap < 0 ? "no gap" : numbers.slice(gap - 1, gap + 1)).toBe("no gap")
}
