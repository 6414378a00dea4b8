import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder, createWorkplace, openIn } from "../support/workplace.ts"
import type { TaskService } from "../../src/plugin/task-service.ts"

const LINES = 3_000
const command = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "line $i"; done`
const expected = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join("")

async function readWith(tasks: TaskService, id: string, limitBytes: number): Promise<{ text: string; reads: number }> {
  let text = ""
  let offset = 0
  for (let reads = 1; ; reads++) {
    const chunk = await tasks.output(id, { offset, limitBytes })
    text += chunk.text
    offset = chunk.nextOffset
    if (chunk.isComplete) return { text, reads }
    if (chunk.text === "") await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

describe("B4. Two readers with their own cursors; reading while it is written; reading after completion", () => {
  test("two readers of one task, at their own pace, while it is written", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    const [fast, slow] = await Promise.all([readWith(tasks, id, 64_000), readWith(tasks, id, 61)])
    expect(fast.text === expected).toBe(true)
    expect(slow.text === expected).toBe(true)
    expect(slow.reads).toBeGreaterThan(fast.reads)
  })

  test("a reader in another process, of what this one writes, and after this one was killed", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const waiting = `echo first; while [ ! -e go ]; do sleep 0.02; done; echo second`
    const [id = ""] = await worker.start([{ tool: "run_command", input: { command: waiting } }])
    const { tasks } = await openIn(directory, { background: { leaseSeconds: 1 } })
    const first = await eventually("the first line is there", async () => {
      const chunk = await tasks.output(id)
      return chunk.text !== "" && chunk
    })
    expect(first).toMatchObject({ text: "first\n", nextOffset: 6, isComplete: false })
    await worker.kill()
    writeFileSync(join(directory, "go"), "")
    await tasks.result(id, { waitMs: 30_000 })
    expect(await tasks.output(id, { offset: first.nextOffset })).toMatchObject({ text: "second\n", isComplete: true })
  })

  test("after completion, again and again, until it is cleared", async () => {
    const { meanwhile, another } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    await tasks.result(id, { waitMs: 20_000, consume: true })
    const other = await another()
    for (const reader of [tasks, tasks, other.tasks])
      expect((await readWith(reader, id, 4_096)).text === expected).toBe(true)
    expect(await tasks.clear({})).toBe(1)
    await expect(tasks.output(id)).rejects.toMatchObject({ code: "not_found" })
  })

  test("of an earlier run, beside the output of the retry", async () => {
    const { meanwhile, directory } = await createWorkplace()
    const { tasks } = meanwhile
    const failing = "if [ -e again ]; then echo second time; else echo first time; exit 1; fi"
    const { id } = await tasks.start({ tool: "run_command", input: { command: failing } })
    await tasks.result(id, { waitMs: 20_000 })
    writeFileSync(join(directory, "again"), "")
    await tasks.retry(id)
    await tasks.result(id, { waitMs: 20_000 })
    expect((await tasks.output(id, { run: 1 })).text).toBe("first time\n")
    expect((await tasks.output(id)).text).toBe("second time\n")
  })
})
