/** Results come back by themselves: the agent starts something slow, talks on, and reports the result unasked. */
import { createRuntime, definePlugin, defineTool } from "meanwhile"
import { z } from "zod"

let oven = Promise.withResolvers<void>()
const bake = defineTool({
  name: "bake",
  description: "Bakes something.",
  input: z.object({ what: z.string() }),
  title: ({ what }) => `bake ${what}`,
  background: { mode: "always" },
  async run({ what }) {
    await oven.promise
    return `one ${what}`
  },
})

await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [definePlugin({ kind: "tool", name: "kitchen", tools: [bake] })],
  reports: { enabled: true }, // or later, of one session: session.enableReports()
})
const session = await runtime.createSession()
session.on((event) => {
  if (event.type === "report.published") console.log(`unasked: ${event.report.text}`)
})

await session.send('call bake with {"what": "cake"}')
console.log("asked:", (await session.send("say good morning")).text)
await finish()
await session.reported()

// A report is a turn of the model, unless you write the report yourself. A result that it tells is used, and not told again.
session.enableReports({ generator: async ({ description, patch }) => `${description} came to ${patch.digest.join()}` })
await session.send('call bake with {"what": "pie"}')
await finish()
await session.reported()

// Without reports a result waits for the next message.
session.disableReports()
await session.send('call bake with {"what": "bread"}')
await finish()
console.log("waiting:", [...(await session.trajectory.unconsumed()).values()].map(({ summary }) => summary).join())
const { text } = await session.send("say thank you")
console.log("asked:", text.includes("one bread") ? "the bread came with the next message" : text)
console.log("waiting:", (await session.trajectory.unconsumed()).size)

/** Lets the task end, and waits for the end from outside the conversation: looking does not use the result. */
async function finish(): Promise<void> {
  oven.resolve()
  oven = Promise.withResolvers()
  const [newest] = (await runtime.tasks.list({ session: session.id, kinds: ["tool"] })).items
  if (newest) await runtime.tasks.result(newest.id, { waitMs: 10_000 })
}

/* Prints:
asked: good morning
unasked: bake cake has completed: one cake
unasked: "bake pie" came to one pie
waiting: one bread
asked: the bread came with the next message
waiting: 0
*/
