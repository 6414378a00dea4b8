import { openRuntime } from "../../../src/app.ts"
import { openDataFolder } from "../../../src/program/data-folder.ts"

/** The times between any two writes to the note in the person's home, the store and its log. */
export type Step = "looked" | "opened" | "noted" | "migrated" | "completed" | "started"

const BETWEEN = [
  ["opened", "noted"],
  ["migrated", "completed"],
] as const

/**
 * Starts as the terminal program does, tells its parent when it is at the named step, and stands still there. Without a
 * parent that listens it is killed there, and without a step it starts and ends.
 */
const [dataDirectory = "", homeDirectory = "", last] = process.argv.slice(2)
const folder = await openDataFolder({ dataDirectory, homeDirectory, environment: {}, trust: false, notify: refuse })
const { onStoreOpened: note } = folder
if (!note) refuse(folder.refusal ?? "")
await reach("looked")
const calls = BETWEEN.values()
const { runtime } = await openRuntime({ dataDirectory }, async (storeId) => {
  const [before, after] = calls.next().value ?? refuse("The store was opened more often than once.")
  await reach(before)
  await note(storeId)
  await reach(after)
})
await reach("started")
await runtime.close()

async function reach(step: Step): Promise<void> {
  if (step !== last) return
  if (process.send) process.send(step)
  else process.kill(process.pid, "SIGKILL")
  await new Promise((resolve) => setTimeout(resolve, 600_000))
}

function refuse(text: string): never {
  throw new Error(text)
}
