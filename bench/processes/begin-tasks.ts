import { openRuntime } from "../runtime.ts"
import { createHeldTool } from "../tools.ts"

/** Begins tasks that do not end, prints the worker that runs them, and waits to be killed. */
const [folder, count, atOnce] = process.argv.slice(2)
if (!folder) throw new Error("usage: begin-tasks FOLDER COUNT AT_ONCE")

const held = createHeldTool()
const room = { maxConcurrentTasks: Number(atOnce), maxConcurrentPerPlugin: Number(atOnce) }
const { tasks } = await openRuntime({ folder, tools: [held.tool], background: room })
const started = await Promise.all(
  Array.from({ length: Number(count) }, () => tasks.start({ tool: held.tool.name, input: {} })),
)
const worker = started.find((task) => task.status === "running")?.worker
process.stdout.write(`${worker ?? ""}\n`)
