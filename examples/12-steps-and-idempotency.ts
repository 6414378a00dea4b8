/** Steps are recorded with their results; the same key is the same task, however often it is asked for. */
import { createRuntime, definePlugin, defineTool } from "meanwhile"
import { z } from "zod"

const order = defineTool({
  name: "order",
  description: "Orders something.",
  input: z.object({ what: z.string() }),
  background: { mode: "always" },
  onCrash: "retry",
  async run({ what }, { step, progress }) {
    const price = await step("ask for the price", async () => what.length * 10)
    progress({ done: 1, total: 2, phase: "priced" })
    // After a crash the price is not asked for again, and the shop can recognise a second payment by its key.
    return step("pay", async ({ idempotencyKey }) => ({ paid: price, keyEndsWith: idempotencyKey.slice(-6) }))
  },
})

await using meanwhile = await createRuntime({
  plugins: [definePlugin({ kind: "tool", name: "shop", tools: [order] })],
})
const { tasks } = meanwhile

const call = { tool: "order", input: { what: "tea" }, idempotencyKey: "order-1" }
const asked = await Promise.all([tasks.start(call), tasks.start(call), tasks.start(call)])
console.log(new Set(asked.map((task) => task.id)).size, "task")

const [first] = asked
const { task } = await tasks.result(first.id, { waitMs: 10_000 })
if (task.status === "completed") console.log(task.patch.payload)

/* Prints:
1 task
{ paid: 30, keyEndsWith: '/1/pay' }
*/
