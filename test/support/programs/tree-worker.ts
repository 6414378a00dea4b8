import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createRuntime } from "../../../src/app.ts"
import { createPostgresEngine } from "../../../src/engine/postgres/engine.ts"
import { eventually } from "../eventually.ts"
import { createTreeParts, LEASE_SECONDS } from "../trees/tree-parts.ts"
import { readTree, withAllBelow } from "../trees/tree-plan.ts"

/**
 * A Meanwhile in a process of its own that grows one tree, and says which task each node is. Model calls are lines of the
 * file `requests`. Every line that it is sent it answers with one; after the last one it closes.
 */
const [directory = "", database = "", tree = ""] = process.argv.slice(2)
const root = readTree(tree)
const parts = createTreeParts(directory, {
  onRequest: (key) => appendFileSync(join(directory, "requests"), `${key}\n`),
  background: { leaseSeconds: LEASE_SECONDS },
})
const meanwhile = await createRuntime({
  ...parts.options,
  ...(database !== "" && { engine: await createPostgresEngine({ url: database }) }),
})
const grove = parts.plant(withAllBelow(root), false)
const session = await meanwhile.createSession()
void session.send(`NODE ${parts.keyOf(root)} .`).catch(() => {})
const commands = [...grove.values()].filter(({ node }) => node.kind === "command")
await eventually("all has begun", async () => {
  for (const { taskId } of commands) {
    if (!taskId || (await meanwhile.tasks.get(taskId)).task.status !== "running") return false
  }
  return [...grove.values()].every(({ node, hasBegun }) => hasBegun || node.kind === "command")
})
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
say(Object.fromEntries([...grove.values()].map(({ node, taskId }) => [node.name, taskId])))

for await (const line of createInterface({ input: process.stdin })) {
  await meanwhile.tasks.list({})
  say(line)
}
await meanwhile.close()
process.exit()
