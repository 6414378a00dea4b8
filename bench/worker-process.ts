import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** A process of `processes/` that works until it is ended. */
export interface WorkerProcess extends AsyncDisposable {
  /** The next moment that the process prints, in milliseconds by the clock of `nowMs`. */
  nextMoment(): Promise<number>
}

/** The time on a clock that all processes of a host share. */
export const nowMs = (): number => toMs(process.hrtime.bigint())

/** Resolves once the process is ready. */
export async function startWorkerProcess(script: string, args: readonly string[]): Promise<WorkerProcess> {
  const path = fileURLToPath(new URL(join("processes", `${script}.ts`), import.meta.url))
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  const kill = () => child.kill("SIGKILL")
  process.on("exit", kill)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the process ended: ${script}`)
    return value
  }
  await nextLine()
  return {
    nextMoment: async () => toMs(BigInt(await nextLine())),
    async [Symbol.asyncDispose]() {
      process.off("exit", kill)
      const ended = once(child, "exit")
      kill()
      await ended
    },
  }
}

function toMs(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e6
}
