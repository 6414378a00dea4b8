import { expect, test } from "vitest"
import { z } from "zod"
import { MeanwhileError } from "../../src/base/error.ts"
import type { Log } from "../../src/plugin/context.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { hasEvent, interceptCommits } from "../support/intercept-commits.ts"
import { openRunner } from "../support/open-runner.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

test("a task that a closing runner cannot hand back is logged as that, and at last as left to others", async () => {
  const directory = createFolder()
  const engine = await openTestEngine(directory)
  const begun = Promise.withResolvers<void>()
  const agent = defineTool({
    name: "think",
    description: "Thinks until it is stopped.",
    kind: "agent",
    input: z.object({}),
    background: { mode: "always" },
    run(_input, { signal }) {
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
    },
  })
  const told: string[] = []
  const log: Log = { debug() {}, info() {}, warn() {}, error: (message) => void told.push(message) }
  const runner = await openRunner(directory, { engine, log, tools: [agent] })
  const { id } = await runner.start({ tool: "think", input: {} })
  await begun.promise
  interceptCommits({ engine }, async (operations, commit) => {
    if (hasEvent(operations, "task.released")) throw new MeanwhileError("disk_full", "The disk is full.")
    return commit(operations)
  })
  await runner.close()
  const what = "a task could not be handed back to the queue"
  expect(new Set(told.slice(0, -1))).toEqual(new Set([`${what}; trying again`]))
  expect(told.at(-1)).toBe(`${what}; another worker will take it over`)
  expect(await engine.store.task(id)).toMatchObject({ status: "running" })
})
