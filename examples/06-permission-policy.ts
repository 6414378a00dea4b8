/** What an agent may do: a policy by tool and argument, and a person who is asked about the rest. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRuntime, type PersonChannel } from "meanwhile"
import { createShellPlugin } from "meanwhile/plugins"

/** Stands in for a terminal or a page: this person says yes to everything but removing. */
const person: PersonChannel = {
  name: "example",
  ask: async ({ text, detail = "" }) => {
    const value = /\brm\b/.test(text + detail) ? "no" : "yes"
    console.log(`asked, answers ${value}`)
    return { isAnswered: true, value, by: "example" }
  },
}

const workingDirectory = mkdtempSync(join(tmpdir(), "example-"))
await using runtime = await createRuntime({
  model: "offline/rules",
  plugins: [createShellPlugin({ workingDirectory, environment: process.env })],
  permissions: {
    rules: [{ tool: "run_command", arguments: { command: "*secret*" }, decision: "deny", reason: "secrets stay here" }],
  },
  person,
})
const session = await runtime.createSession()
for (const command of ["echo reading", "touch made-here", "rm made-here", "cat secret.txt"]) {
  const { text } = await session.send(`run \`${command}\``)
  console.log(`${command}: ${text.split("\n")[0]}`)
}
rmSync(workingDirectory, { recursive: true })

/* Prints:
echo reading: `echo reading` returned:
asked, answers yes
touch made-here: `touch made-here` returned:
asked, answers no
rm made-here: `rm made-here` failed: run_command was not allowed: the person said no
cat secret.txt: `cat secret.txt` failed: run_command was not allowed: secrets stay here
*/
