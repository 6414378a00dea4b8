/** Work beyond the limits waits in the queue, and each task says its place in the queue. */
import { createRuntime, definePlugin, defineTool } from "meanwhile"
import { z } from "zod"

const opened = Promise.withResolvers<null>()

const wait = defineTool({
  name: "wait",
  description: "Waits until the door opens.",
  input: z.object({ name: z.string() }),
  title: ({ name }) => name,
  background: { mode: "always" },
  run: () => opened.promise,
})

await using meanwhile = await createRuntime({
  plugins: [definePlugin({ kind: "tool", name: "door", tools: [wait] })],
  background: { maxConcurrentTasks: 1 },
})
const { tasks } = meanwhile

const ids = []
for (const name of ["first", "second", "third"]) ids.push((await tasks.start({ tool: "wait", input: { name } })).id)

for (const id of ids) {
  const { task, placeInQueue } = await tasks.get(id)
  console.log(task.title, task.status, placeInQueue)
}

opened.resolve(null)
for (const id of ids) await tasks.result(id, { waitMs: 10_000 })
console.log((await tasks.list({ statuses: ["completed"] })).items.map((task) => task.title))

/* Prints:
first running null
second queued 1
third queued 2
[ 'third', 'second', 'first' ]
*/
