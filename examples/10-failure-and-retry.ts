/** A task that fails is data: the record says why, what it handed back is kept, and it can be run again. */
import { createRuntime, definePlugin, defineTool, failWith } from "meanwhile"
import { z } from "zod"

let failing = 2

const deploy = defineTool({
  name: "deploy",
  description: "Deploys, if the tests pass.",
  input: z.object({}),
  background: { mode: "always" },
  async run() {
    if (failing > 0) return failWith({ code: "tests_failed", message: `${failing} tests fail` }, { failing })
    return "deployed"
  },
})

await using meanwhile = await createRuntime({
  plugins: [definePlugin({ kind: "tool", name: "delivery", tools: [deploy] })],
})
const { tasks } = meanwhile

const { id } = await tasks.start({ tool: "deploy", input: {} })
const first = await tasks.result(id, { waitMs: 10_000 })
if (first.task.status === "failed") console.log(first.task.failure.message, first.task.patch?.payload)

failing = 0
await tasks.retry(id)
const second = await tasks.result(id, { waitMs: 10_000 })
console.log("run", second.task.run, second.task.status)

/* Prints:
2 tests fail { failing: 2 }
run 2 completed
*/
