import { expect, test } from "vitest"
import { z } from "zod"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { Operation } from "../../src/task/operation.ts"
import type { CommitOptions, TaskStore } from "../../src/task/store.ts"
import { openAgent } from "../support/session/open-agent.ts"

/** Counts the commits, and how many of the last the disk may not have yet. */
function watchDisk(store: TaskStore) {
  let count = 0
  let onDisk = 0
  const commit = store.commit as (operations: readonly Operation[], options?: CommitOptions) => Promise<unknown>
  Object.assign(store, {
    async commit(operations: readonly Operation[], options?: CommitOptions) {
      const own = ++count
      const answers = await commit(operations, options)
      if (options?.waitsForDisk !== false) onDisk = Math.max(onDisk, own)
      return answers
    },
  })
  return { behind: () => count - onDisk }
}

test("a turn runs no call and gives no answer before the disk has all that it rests on; a model is asked meanwhile", async () => {
  const seen: string[] = []
  const see = (what: string) => seen.push(`${what}: ${disk.behind()} behind`)
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    background: { mode: "never" },
    async run() {
      see("call")
      return "seen"
    },
  })
  const script: readonly ScriptStep[] = [
    () => (see("model"), { calls: [{ tool: "look" }] }),
    () => (see("model"), { calls: [{ tool: "look" }] }),
    () => (see("model"), "done"),
  ]
  const { session, runtime } = await openAgent(script, { isKept: true, tools: [look] })
  const disk = watchDisk(runtime.engine.store)
  await session.send("go")
  see("answered")
  expect(seen).toEqual([
    "model: 1 behind",
    "call: 0 behind",
    "model: 1 behind",
    "call: 0 behind",
    "model: 1 behind",
    "answered: 0 behind",
  ])
})
