import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { onTestFinished } from "vitest"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import type { BackgroundConfigInput } from "../../src/runner/limits/background-config.ts"
import type { WorkerHabit, WorkerOrder, WorkerReply } from "./programs/worker.ts"
import { eventually } from "./eventually.ts"
import { withPatience } from "./patience.ts"
import { endNow, stateOf } from "./processes.ts"
import { builtProgram } from "./built-program.ts"
import { databaseOf } from "./test-engine.ts"

const FIXTURE = builtProgram("worker")
const STAND_STILL = builtProgram("stand-still")

/** A real Meanwhile process on the folder's data, in the store that the folder has in this run. It ends with the test. */
export interface ChildWorker {
  readonly pid: number
  /** Starts the calls in the background, and returns their ids. */
  start(calls: readonly ToolCall[]): Promise<readonly string[]>
  /** Begins the call in the foreground, and returns the id that it would have as a task without waiting for the answer. */
  execute(call: ToolCall): Promise<string>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGSTOP; resolves when the process stands still. */
  suspend(): Promise<void>
  isSuspended(): boolean
  continue(): void
  /** A clean shutdown; resolves when the process has exited. */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

export async function startChildWorker(
  directory: string,
  background: BackgroundConfigInput = {},
  habit?: WorkerHabit,
): Promise<ChildWorker> {
  const database = (await databaseOf(join(directory, "data"))) ?? ""
  const parameters = [directory, JSON.stringify(background), habit ?? "", database]
  const child = spawn(process.execPath, ["--import", STAND_STILL, FIXTURE, ...parameters], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const pid = child.pid
  if (pid === undefined) throw new Error("The worker could not be started.")
  onTestFinished(() => endNow(pid))
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

  async function next(): Promise<WorkerReply> {
    const line = await withPatience(replies.next(), () => `The worker ${pid} does not answer.`)
    if (line.done) throw new Error(`The worker ended although it was asked something: status ${child.exitCode}.`)
    return JSON.parse(line.value) as WorkerReply
  }

  async function order(what: WorkerOrder): Promise<WorkerReply> {
    child.stdin.write(`${JSON.stringify(what)}\n`)
    return next()
  }

  async function idsOf(what: WorkerOrder): Promise<readonly string[]> {
    const reply = await order(what)
    if (reply.reply !== "started") throw new Error(`Unexpected reply ${reply.reply}`)
    return reply.ids
  }

  await next()
  return {
    pid,
    start: (calls) => idsOf({ order: "start", calls }),
    execute: async (call) => (await idsOf({ order: "execute", call }))[0] ?? "",
    async kill() {
      child.kill("SIGKILL")
      await gone
    },
    async suspend() {
      child.kill("SIGSTOP")
      await eventually("the worker stands still", () => stateOf(pid) === "T")
    },
    isSuspended: () => stateOf(pid) === "T",
    continue: () => void child.kill("SIGCONT"),
    async close(options = {}) {
      await order({ order: "close", options })
      await withPatience(gone, () => `The worker ${pid} has closed and does not end.`)
    },
  }
}
