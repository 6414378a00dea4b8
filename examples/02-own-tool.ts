/** A tool of your own, without a plugin: any schema, any result that can be written as JSON. */
import { createRuntime, defineTool } from "meanwhile"
import { z } from "zod"

const weather = defineTool({
  name: "weather",
  description: "The weather in a town.",
  input: z.object({ town: z.string() }),
  run: ({ town }) => ({ town, sky: "rain" }),
})

await using runtime = await createRuntime({ model: "offline/rules", tools: [weather] })
const session = await runtime.createSession()
const { text } = await session.send('call weather with {"town": "Ulm"}')
console.log(text)

/* Prints:
weather returned:

{"town":"Ulm","sky":"rain"}
*/
