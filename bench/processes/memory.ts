import { setTimeout as sleep } from "node:timers/promises"
import { openRuntime } from "../runtime.ts"
import { createHeldTool } from "../tools.ts"

/** Opens the store, lets it settle, prints the bytes of memory it holds and how many tasks are queued, and waits to be killed. */
const [folder] = process.argv.slice(2)
if (!folder) throw new Error("usage: memory FOLDER")

const SETTLE_MS = 1_000

const { engine } = await openRuntime({ folder, tools: [createHeldTool().tool], background: { maxConcurrentTasks: 1 } })
await sleep(SETTLE_MS)
globalThis.gc?.()
const bytes = process.memoryUsage.rss()
const queued = await engine.store.countTasks({ statuses: ["queued"] })
process.stdout.write(`${JSON.stringify({ bytes, queued })}\n`)
