/** A command in the background: wait for a line of its output, read the rest, stop it. */
import { createRuntime } from "meanwhile"
import { createShellPlugin } from "meanwhile/plugins"

await using meanwhile = await createRuntime({
  plugins: [createShellPlugin()],
})
const { tasks } = meanwhile

const server = await tasks.start({
  tool: "run_command",
  input: { command: "echo starting; sleep 0.2; echo ready on port 8080; sleep 60" },
})

const found = await tasks.waitForOutput(server.id, { pattern: /ready on port (\d+)/, timeoutMs: 10_000 })
console.log(found.outcome, found.outcome === "matched" && found.line)

const { text, nextOffset } = await tasks.output(server.id)
console.log(JSON.stringify(text), nextOffset)

await tasks.cancel(server.id, { by: "person", reason: "no longer needed" })
const { task } = await tasks.result(server.id, { waitMs: 10_000 })
if (task.status === "cancelled")
  console.log(task.status, "by", task.stop.by, "because", task.stop.reason, task.survivors)

/* Prints:
matched ready on port 8080
"starting\nready on port 8080\n" 28
cancelled by person because no longer needed []
*/
