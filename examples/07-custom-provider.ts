/** A model provider of your own: anything that answers a conversation. Objects of the AI SDK can be handed in as they are. */
import { createRuntime, definePlugin, textOf } from "meanwhile"

const parrot = definePlugin({
  kind: "model_provider",
  name: "parrot",
  connect: (model) => ({
    id: `parrot/${model}`,
    contextLimitTokens: 4_000,
    async generate({ messages, onDelta }) {
      const text = `${messages.slice(-1).map(textOf).join("")}!`
      for (const word of text.split(/(?<= )/)) onDelta?.({ type: "text", text: word })
      return {
        message: { role: "assistant", parts: [{ type: "text", text }] },
        finish: "stop",
        usage: { inputTokens: 4, cachedInputTokens: 0, outputTokens: 2, reasoningTokens: 0 },
      }
    },
  }),
})

await using runtime = await createRuntime({
  model: "parrot/green",
  plugins: [parrot],
  models: { "parrot/*": { price: { input: 1, output: 10 } } },
})
const session = await runtime.createSession()
await session.send("hello there", { onOutput: (source, text, mode) => console.log(source, mode, text) })

await session.useModel("offline/rules")
console.log((await session.send("say goodbye")).text)
for (const [model, { calls, costMicros }] of runtime.ledger.totals("model")) console.log(model, calls, costMicros)

/* Prints:
model write hello 
model append there!
goodbye
parrot/green 1 24
offline/rules 1 0
*/
