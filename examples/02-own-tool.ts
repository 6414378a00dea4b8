/** A tool of your own that takes long: the agent goes on talking, and hears of the tool's end with the next message. */
import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime, definePlugin, defineTool } from "meanwhile"
import { z } from "zod"

const bake = defineTool({
  name: "bake",
  description: "Bakes a cake.",
  input: z.object({ minutes: z.number() }),
  background: { mode: "after", ms: 100 },
  run: async ({ minutes }, { signal }) => sleep(minutes * 10, "a cake", { signal }),
})

await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [definePlugin({ kind: "tool", name: "kitchen", tools: [bake] })],
})
const session = await runtime.createSession()

const { text } = await session.send('call bake with {"minutes": 30}')
console.log(text.replace(/[0-9a-f]{8}/, "ID").split("\n")[0])

console.log((await session.send("say I am still here")).text)

const { items } = await runtime.tasks.list({ session: session.id })
for (const { id } of items) await runtime.tasks.result(id, { waitMs: 10_000 })
console.log((await session.send("say well?")).text.replace(/[0-9a-f]{8}/, "ID"))

/* Prints:
bake goes on in the background as task ID. Its result comes by itself; we can talk on.
I am still here
bake has completed: a cake

well?
*/
