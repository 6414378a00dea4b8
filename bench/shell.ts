import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { z } from "zod"
import type { ProcessRequest } from "../src/plugin/process.ts"
import { defineTool } from "../src/plugin/tool.ts"
import type { Benchmark } from "./benchmark.ts"
import { createFolder } from "./folder.ts"
import type { Runtime } from "../src/app.ts"
import { openRuntime } from "./runtime.ts"
import { median, timed } from "./statistics.ts"

const SAMPLES = 400
const WARM_UP = 40
const PRINTED = "done\n"

export const shell: Benchmark = {
  name: "shell",
  summary: "what spool, pid file and wrapper add to a command in the foreground",
  async run(report) {
    using folder = createFolder("shell")
    const request = toRequest(folder.path)
    await using runtime = await openRuntime({ folder: folder.path, tools: [createCommandTool(request)] })
    const added: number[] = []
    const plain: number[] = []
    for (let index = 0; index < WARM_UP + SAMPLES; index++) {
      const plainMs = await timed(() => runPlainly(request))
      const oursMs = await timed(() => runInForeground(runtime))
      if (index < WARM_UP) continue
      plain.push(plainMs)
      added.push(oursMs - plainMs)
      if (index % 100 === 0) report.progressed(`sample ${index} of ${WARM_UP + SAMPLES}`)
    }
    report.measured({
      metric: "added_ms_p50",
      unit: "ms",
      ours: median(added),
      reference: { name: "a plain spawn of the same command", value: median(plain) },
      bar: { of: "ours", atMost: 1.5 },
    })
  },
}

function toRequest(cwd: string): ProcessRequest {
  return { argv: ["sh", "-c", "echo done"], cwd, env: { PATH: process.env["PATH"] ?? "" } }
}

/** Both sides hand back what the command printed. */
function createCommandTool(request: ProcessRequest) {
  return defineTool({
    name: "command",
    description: "Runs the command that is measured.",
    input: z.object({}),
    background: { mode: "after" },
    async run(_input, { processes, output }) {
      await processes.run(request)
      return (await output.read()).text
    },
  })
}

async function runInForeground({ tasks }: Runtime): Promise<void> {
  const answer = await tasks.execute({ tool: "command", input: {} }).answer
  if (answer.outcome !== "completed" || answer.patch.payload !== PRINTED) {
    throw new Error(`the command did not do what it should: ${JSON.stringify(answer)}`)
  }
}

async function runPlainly({ argv: [program, ...args], cwd, env }: ProcessRequest): Promise<void> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  const [printed] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  if (printed !== PRINTED) throw new Error("the plain command did not do what it should")
}
