/** A slow tool that reports by itself: the call leaves the conversation, you talk on, and the agent tells the result unasked. */
import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime, defineTool } from "meanwhile"
import { z } from "zod"

const bake = defineTool({
  name: "bake",
  description: "Bakes something.",
  input: z.object({ what: z.string() }),
  title: ({ what }) => `bake ${what}`,
  background: { mode: "after", ms: 100 }, // without this line: after ten seconds
  run: async ({ what }, { signal }) => sleep(2_000, `one ${what}`, { signal }),
})

await using runtime = await createRuntime({ model: "offline/rules", tools: [bake], reports: { enabled: true } })
const session = await runtime.createSession()
session.on((event) => {
  if (event.type === "report.published") console.log(`unasked: ${event.report.text}`)
})

console.log((await session.send('call bake with {"what": "cake"}')).text)
console.log((await session.send("say we talk on")).text)
await session.settled() // nothing runs any more, and everything was told

/* Prints:
bake goes on in the background as task …. Its result comes by itself; we can talk on.
we talk on
unasked: bake cake has completed: one cake
*/
