import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { TaskService } from "../../src/plugin/task-service.ts"
import { eventually } from "../support/eventually.ts"
import { createWorkplace } from "../support/workplace.ts"

/** Reads everything from an offset to the end, in reads of changing size, while the task still writes. */
async function readAll(tasks: TaskService, id: string, from = 0) {
  const drops: { readonly asked: number; readonly droppedBefore: number }[] = []
  let text = ""
  let offset = from
  for (let turn = 0; ; turn++) {
    const chunk = await tasks.output(id, { offset, limitBytes: 5 + ((turn * 37) % 4_000) })
    if (chunk.droppedBefore === null) expect(chunk.offset).toBe(offset)
    else {
      drops.push({ asked: offset, droppedBefore: chunk.offset })
      expect(chunk.offset).toBe(chunk.droppedBefore)
      text = ""
    }
    expect(chunk.nextOffset - chunk.offset).toBe(Buffer.byteLength(chunk.text))
    text += chunk.text
    offset = chunk.nextOffset
    if (chunk.isComplete) return { text, offset, drops, totalBytes: chunk.totalBytes }
    if (chunk.nextOffset === chunk.offset) await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

describe("B1. Offsets are absolute; a reader never loses or repeats a byte without being told", () => {
  const LINES = 20_000
  const command = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "line $i: a ä € 😀"; done`
  const expected = Array.from({ length: LINES }, (_, index) => `line ${index + 1}: a ä € 😀\n`).join("")

  test("of all that a command prints, read while it is printed", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    const { text, offset, drops, totalBytes } = await readAll(tasks, id)
    expect(drops).toEqual([])
    expect(text === expected).toBe(true)
    expect(offset).toBe(Buffer.byteLength(expected))
    expect(totalBytes).toBe(offset)
  })

  test("of what is kept when the cap drops the rest: the offset at which it goes on is told", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command }, outputLimitBytes: 60_000 })
    await tasks.result(id, { waitMs: 20_000 })
    const { text, offset, drops } = await readAll(tasks, id)
    expect(drops).toHaveLength(1)
    expect(offset).toBe(Buffer.byteLength(expected))
    const kept = Buffer.from(expected).subarray(drops[0]?.droppedBefore)
    expect(Buffer.from(text).equals(Buffer.from(kept.toString("utf8")))).toBe(true)
    expect(Buffer.byteLength(text)).toBeGreaterThanOrEqual(30_000)
  })

  test("of a slow reader that the cap overtakes", async () => {
    const { meanwhile, directory } = await createWorkplace()
    const { tasks } = meanwhile
    const later = `echo first; until [ -e go ]; do sleep 0.02; done; ${command}`
    const { id } = await tasks.start({ tool: "run_command", input: { command: later }, outputLimitBytes: 60_000 })
    const first = await eventually("it prints", async () => {
      const chunk = await tasks.output(id, { limitBytes: 100 })
      return chunk.nextOffset > 0 && chunk
    })
    expect(first).toMatchObject({ text: "first\n", droppedBefore: null })
    writeFileSync(join(directory, "go"), "")
    await tasks.result(id, { waitMs: 20_000 })
    const next = await tasks.output(id, { offset: first.nextOffset })
    expect(next.droppedBefore).toBeGreaterThan(first.nextOffset)
    expect(next.offset).toBe(next.droppedBefore)
    const again = await tasks.output(id, { offset: next.offset })
    expect(again).toMatchObject({ offset: next.offset, droppedBefore: null, text: next.text })
  })

  test("past the end there is nothing, and the offset stays", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command: "printf 12345" } })
    await tasks.result(id, { waitMs: 20_000 })
    expect(await tasks.output(id, { offset: 5 })).toMatchObject({
      text: "",
      offset: 5,
      nextOffset: 5,
      isComplete: true,
    })
    expect(await tasks.output(id, { offset: 3 })).toMatchObject({ text: "45", offset: 3, nextOffset: 5 })
    expect(await tasks.output(id, { tailBytes: 2 })).toMatchObject({ text: "45", offset: 3, nextOffset: 5 })
    await expect(tasks.output(id, { offset: -1 })).rejects.toMatchObject({ code: "invalid_input" })
  })
})
