import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { openPostgresRuntime } from "../runtime.ts"
import { noOp } from "../tools.ts"

/**
 * Runs what others start, until it is killed. Prints when it is ready. Calls of `held` and `writing` end when they are stopped;
 * it prints the moments at which they began and were stopped, in nanoseconds by a clock that all processes of a host share.
 */
const [url, atOnce] = process.argv.slice(2)
if (!url) throw new Error("usage: postgres-worker URL AT_ONCE")

const print = (): void => void process.stdout.write(`${process.hrtime.bigint()}\n`)

const input = z.object({})
const background = { mode: "after" } as const

const held = defineTool({
  name: "held",
  description: "Ends when it is stopped.",
  input,
  background,
  run(_input, { signal }) {
    print()
    return new Promise<null>((resolve) => {
      signal.addEventListener("abort", () => {
        print()
        resolve(null)
      })
    })
  },
})

const writing = defineTool({
  name: "writing",
  description: "Writes into the store until it is stopped.",
  input,
  background,
  async run(_input, { signal, step }) {
    print()
    signal.addEventListener("abort", print)
    for (let index = 0; !signal.aborted; index++) await step(String(index), async () => null)
    return null
  },
})

await openPostgresRuntime({ url, tools: [noOp, held, writing], atOnce: Number(atOnce) })
process.stdout.write("ready\n")
