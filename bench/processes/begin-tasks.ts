import { readPeakBytes } from "../peak-memory.ts"
import { openRuntime } from "../runtime.ts"
import { createHeldTool } from "../tools.ts"

/**
 * Begins or queues tasks that do not end, prints the worker that runs them, how many are queued and the most memory it has
 * held, and waits to be killed.
 */
const [folder, count, atOnce] = process.argv.slice(2)
if (!folder) throw new Error("usage: begin-tasks FOLDER COUNT AT_ONCE")

/** How many starts wait for their answer at a time. */
const WAITING = 100

const held = createHeldTool()
const room = { maxConcurrentTasks: Number(atOnce), maxConcurrentPerPlugin: Number(atOnce) }
const { tasks, engine } = await openRuntime({ folder, tools: [held.tool], background: room })
let worker = ""
let left = Number(count)

async function startSome(): Promise<void> {
  while (left > 0) {
    left -= 1
    const task = await tasks.start({ tool: held.tool.name, input: {} })
    if (task.status === "running") worker = task.worker
  }
}

await Promise.all(Array.from({ length: WAITING }, startSome))
const queued = await engine.store.countTasks({ statuses: ["queued"] })
process.stdout.write(`${JSON.stringify({ worker, queued, peakBytes: readPeakBytes() })}\n`)
