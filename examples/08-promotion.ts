/** A call that ends soon is answered with its result. A call that takes longer becomes a task, and the caller goes on. */
import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime, definePlugin, defineTool } from "meanwhile"
import { z } from "zod"

const bake = defineTool({
  name: "bake",
  description: "Bakes something.",
  input: z.object({ what: z.string(), ms: z.number() }),
  background: { mode: "after", ms: 200 },
  async run({ what, ms }, { signal }) {
    await sleep(ms, undefined, { signal })
    return `one ${what}`
  },
})

await using meanwhile = await createRuntime({
  plugins: [definePlugin({ kind: "tool", name: "kitchen", tools: [bake] })],
})
const { tasks } = meanwhile

const quick = await tasks.execute({ tool: "bake", input: { what: "toast", ms: 10 } }).answer
console.log(quick.outcome, quick.outcome === "completed" && quick.patch.payload)

const slow = await tasks.execute({ tool: "bake", input: { what: "cake", ms: 600 } }).answer
console.log(slow.outcome)
if (slow.outcome !== "promoted") throw new Error("the cake was too quick")

console.log("meanwhile, something else")

const { task } = await tasks.result(slow.task.id, { waitMs: 10_000 })
console.log(task.status, task.status === "completed" && task.patch.payload)

/* Prints:
completed one toast
promoted
meanwhile, something else
completed one cake
*/
