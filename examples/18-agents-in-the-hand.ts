/** Subagents, held by your program: a group, a wait, a word to one at work, a cancel, and a follow-up to one that is done. */
import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime, defineTool } from "meanwhile"
import { createSubagentPlugin } from "meanwhile/plugins"
import { z } from "zod"

const [inTheOven, golden] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
const bake = defineTool({
  name: "bake",
  description: "Bakes something.",
  input: z.object({ what: z.string() }),
  async run({ what }, { signal }) {
    if (what === "cake") inTheOven.resolve()
    if (what === "cake") await golden.promise
    if (what === "pie") await sleep(600_000, undefined, { signal })
    return `one ${what}`
  },
})

await using runtime = await createRuntime({ model: "offline/rules", tools: [bake], plugins: [createSubagentPlugin()] })
const { tasks } = runtime
const session = (await runtime.createSession()).id

// Three agents at work, each with a conversation of its own.
const group = (await tasks.groups.open({ name: "breakfast", session })).id
const start = (what: string) =>
  tasks.start({
    tool: "spawn_subagent",
    input: { name: what, task: `call bake with {"what": "${what}"}` },
    session,
    group,
  })
const [toast, cake, pie] = [await start("toast"), await start("cake"), await start("pie")]
await tasks.groups.seal(group)

// Wait until the first is done. The wait costs no model call, and its end stops nobody.
const early = await tasks.waitFor({ group, until: "any", limitMs: 30_000 })
console.log(early.tasks.filter(({ task }) => task.status === "completed").map(({ task }) => task.title))

// Steer one at work: it reads this at its next step. Cancel another, with everything it started.
await inTheOven.promise
await tasks.say(cake.id, "say with cream")
golden.resolve()
await tasks.cancel(pie.id)
for (const { task } of (await tasks.waitFor({ group, limitMs: 30_000 })).tasks)
  console.log(task.status, task.status === "completed" && task.patch.digest)

// Resume one that is done: another run of the same task, in the same conversation.
await tasks.resume(toast.id, "say with butter")
const { task } = await tasks.result(toast.id, { waitMs: 30_000 })
console.log(`run ${task.run}`, task.status === "completed" && task.patch.digest)

/* Prints:
[ 'toast: call bake with {"what": "toast"}' ]
completed [ 'bake returned: one toast' ]
completed [ 'bake returned: one cake with cream' ]
cancelled false
run 2 [ 'with butter' ]
*/
