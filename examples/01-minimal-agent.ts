/** An agent in fifteen lines. With a key in the environment it talks with that provider's model; here, with the offline one. */
import { createRuntime } from "meanwhile"
import { createShellPlugin } from "meanwhile/plugins"

await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [createShellPlugin()],
  background: { thresholdSeconds: 1 },
})
const session = await runtime.createSession()

const { text, accounting } = await session.send("run `echo hello`")
console.log(text)

const { usage } = accounting
console.log(`${usage.inputTokens > 0 ? "tokens were counted" : "no tokens"}, ${session.history().length} messages`)

/* Prints:
`echo hello` returned:

hello
tokens were counted, 4 messages
*/
