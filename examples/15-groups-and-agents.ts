/** Tasks that belong together are told of as one; an agent in the background can be asked more once it has answered. */
import { createRuntime } from "meanwhile"
import { createBackgroundPlugin, createShellPlugin, createSubagentPlugin } from "meanwhile/plugins"

await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [createShellPlugin(), createSubagentPlugin({ directories: [] }), createBackgroundPlugin()],
  reports: { enabled: true },
})
const { tasks } = runtime
const session = await runtime.createSession()
session.on((event) => {
  if (event.type === "report.started" && event.group) console.log(`about the group ${event.group.name}:`)
  if (event.type === "report.published") console.log(event.report.text)
})

// The model opens the group by its name. The group is sealed when the turn ends, and joined when all its members have ended.
await session.send("run `echo one`, `false` and `echo two` together as checks")
const [group] = await tasks.groups.list({ session: session.id })
const { reason } = await tasks.waitFor({ group: group?.id ?? "", limitMs: 30_000 })
await session.reported()
console.log(reason, (await tasks.groups.get("checks")).state)

// An agent is a task with a conversation of its own. A model starts one by `start_agent`, a program like this:
const { id } = await tasks.start({ tool: "spawn_subagent", input: { task: "say hello" }, session: session.id })
await tasks.result(id, { waitMs: 30_000 })
await session.reported()

// A follow-up goes on in that conversation, as another run of the same task.
await tasks.resume(id, "say goodbye")
const { task } = await tasks.result(id, { waitMs: 30_000 })
await session.reported()
console.log(`${task.kind}, run ${task.run}, resumed ${task.resumeCount} time`)

/* Prints:
about the group checks:
3 tasks of the group "checks" have ended: 2 completed, 1 failed.
- echo one has completed: one
- false has failed: `false` exited with 1.
- echo two has completed: two
met joined
subagent: say hello has completed: hello
subagent: say goodbye has completed: goodbye
agent, run 2, resumed 1 time
*/
