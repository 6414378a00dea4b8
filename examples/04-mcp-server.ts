/** The tools of an MCP server, offered to an agent under the server's name. */
import { fileURLToPath } from "node:url"
import { createRuntime } from "meanwhile"
import { createMcpPlugin, mcpConfigSchema } from "meanwhile/plugins"

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
const mcp = createMcpPlugin({
  config: mcpConfigSchema.parse({
    mcpServers: { everything: { command: process.execPath, args: [everything, "stdio"] } },
  }),
  workingDirectory: process.cwd(),
  environment: process.env,
})

await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [mcp],
  permissions: { rules: [{ tool: "mcp__everything__*", decision: "allow" }] },
})
const session = await runtime.createSession()
const offered = session.tools().filter(({ name }) => name.startsWith("mcp__everything__"))
console.log(`the server's tools are there: ${offered.length > 5}`)
console.log((await session.send('call mcp__everything__echo with {"message": "hello"}')).text)

/* Prints:
the server's tools are there: true
mcp__everything__echo returned:

Echo: hello
*/
