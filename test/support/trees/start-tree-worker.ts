import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { onTestFinished } from "vitest"
import type { TaskId } from "../../../src/task/id.ts"
import { builtProgram } from "../built-program.ts"
import { eventually } from "../eventually.ts"
import { withPatience } from "../patience.ts"
import { endNow, stateOf } from "../processes.ts"
import { databaseOf } from "../test-engine.ts"
import { type TreeNode, writeTree } from "./tree-plan.ts"

/** A real Meanwhile that grows the plan's tree; it ends with the test. */
export async function startTreeWorker(folder: string, root: TreeNode) {
  const database = (await databaseOf(join(folder, "data"))) ?? ""
  const program = builtProgram("tree-worker")
  const child = spawn(process.execPath, [program, folder, database, writeTree(root)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const { pid } = child
  if (pid === undefined) throw new Error("The worker could not be started.")
  onTestFinished(() => endNow(pid))
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () =>
    (await withPatience(replies.next(), () => `The worker ${pid} does not answer.`)).value ?? "{}"
  const tasks = JSON.parse(await next()) as Readonly<Record<string, TaskId | null>>
  return {
    pid,
    tasks,
    async freeze() {
      child.kill("SIGSTOP")
      await eventually("the worker stands still", () => stateOf(pid) === "T")
    },
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL")
      await gone
    },
    /** A clean shutdown, which hands back what may be repeated; resolves when the process is gone. */
    async close() {
      child.stdin.end()
      await withPatience(gone, () => `The worker ${pid} does not end.`)
    },
    async look() {
      child.stdin.write("look\n")
      await next()
    },
  }
}
