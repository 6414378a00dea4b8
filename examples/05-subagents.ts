/** Subagents: sessions of the same runtime, with a model and tools of their own. The events of all arrive in one place. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRuntime } from "meanwhile"
import { createShellPlugin, createSubagentPlugin } from "meanwhile/plugins"

const profiles = await mkdtemp(join(tmpdir(), "profiles-"))
await writeFile(
  join(profiles, "runner.md"),
  "---\nname: runner\ndescription: Runs one command.\ntools: [run_command]\n---\nRun what you are asked to, and nothing else.\n",
)

await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [createShellPlugin(), createSubagentPlugin({ directories: [profiles] })],
})
const names = new Map<string, string>()
runtime.on((event) => {
  if (event.type === "agent.created") names.set(event.agent, event.name)
  if (event.type === "tool_call.started") console.log(`${names.get(event.agent)} calls ${event.tool}`)
})
const session = await runtime.createSession()
const { text } = await session.send("ask the runner subagent to run `echo from below`")
console.log(text.includes("from below") ? "the answer came back" : text)
console.log(`${runtime.ledger.totals("session").size} sessions used tokens`)
await rm(profiles, { recursive: true })

/* Prints:
main calls spawn_subagent
runner calls run_command
the answer came back
2 sessions used tokens
*/
