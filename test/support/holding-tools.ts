import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { z } from "zod"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import type { OnCrash } from "../../src/task/step.ts"

export interface Effect {
  /** The pid of the Meanwhile process that caused the effect. */
  readonly pid: number
  readonly what: string
}

const pathOf = (directory: string): string => join(directory, "effects")

/** The effects of the tools in this folder, in order, from all processes. */
export function effectsIn(directory: string): Effect[] {
  if (!existsSync(pathOf(directory))) return []
  return readFileSync(pathOf(directory), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ pid: Number.parseInt(line, 10), what: line.slice(line.indexOf(" ") + 1) }))
}

/** Tools that run inside Meanwhile, wait for a file of the folder, and then act once, in a step. One per `onCrash`. */
export function createHoldingTools(directory: string): Tool[] {
  return [
    createHolding(directory, "hold", "fail"),
    createHolding(directory, "hold_retry", "retry"),
    createHolding(directory, "hold_ask", "ask"),
    createCommands(directory),
    countingTool,
  ]
}

/** Prints numbers, one a line behind the pid of its process, and begins with 1 again after a crash. */
const countingTool = defineTool({
  name: "count",
  description: "Counts.",
  input: z.object({ to: z.number(), everyMs: z.number() }),
  background: { mode: "always" },
  onCrash: "retry",
  async run({ to, everyMs }, { output }) {
    for (let number = 1; number <= to; number++) {
      output.write(`${process.pid} ${number}\n`)
      await pause(everyMs)
    }
    return to
  },
})

/** A tool that may run again after a crash and does not reattach to its commands. Prints, and runs two commands in turn. */
function createCommands(directory: string): Tool {
  return defineTool({
    name: "commands",
    description: "Prints, waits for a file, and runs two commands.",
    input: z.object({ until: z.string() }),
    background: { mode: "always" },
    onCrash: "retry",
    async run({ until }, { output, processes, signal }) {
      output.write("begun\n")
      appendFileSync(join(directory, "called"), "called\n")
      while (!existsSync(join(directory, until))) await pause(5, undefined, { signal })
      const env = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
      const run = (command: string) => processes.run({ argv: ["sh", "-c", command], cwd: directory, env })
      const one = await run("echo one >> ran; until test -e go; do sleep 0.02; done")
      const two = await run("echo two >> ran")
      return [one.exitCode, two.exitCode]
    },
  })
}

function createHolding(directory: string, name: string, onCrash: OnCrash): Tool {
  /** Writes a whole line at once, so that lines of several processes do not mix. */
  const act = (what: string): void => appendFileSync(pathOf(directory), `${process.pid} ${what}\n`)
  return defineTool({
    name,
    description: "Begins, waits for a file, and acts.",
    input: z.object({ name: z.string(), until: z.string().optional() }),
    background: { mode: "always" },
    onCrash,
    async run(input, { step, signal }) {
      act(`began ${input.name}`)
      while (input.until !== undefined && !existsSync(join(directory, input.until))) {
        await pause(5, undefined, { signal })
      }
      await step("act", async () => {
        act(`acted ${input.name}`)
        return null
      })
      return input.name
    },
  })
}
