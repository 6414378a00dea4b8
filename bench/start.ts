import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Benchmark } from "./benchmark.ts"
import { installPackage } from "./built-package.ts"
import { createFolder } from "./folder.ts"
import { compare } from "./statistics.ts"

const ROUNDS = 25
const GIVE_UP_MS = 30_000

export const start: Benchmark = {
  name: "start",
  summary: "the installed program until it has said its version, and until it has obeyed the first /help",
  async run(report) {
    using folder = createFolder("start")
    report.progressed("building the package")
    const { program } = installPackage(folder.path)
    const home = join(folder.path, "home")
    mkdirSync(home)
    const node = () => measureExit(home, ["-e", "0"])
    const measure = async (metric: string, atMost: number, ours: () => Promise<number>) => {
      report.progressed(metric)
      const compared = await compare(ROUNDS, ours, node)
      const reference = { name: "node -e 0", value: compared.reference, ratio: compared.ratio }
      report.measured({ metric, unit: "ms", ours: compared.ours, reference, bar: { of: "ratio", atMost } })
    }
    await measure("version", 3, () => measureExit(home, [program, "--version"]))
    await measure("prompt", 8, () => measurePrompt(home, program))
  },
}

/** Starts the program without any key or setting of the person who runs the benchmark. */
function run(home: string, args: readonly string[]): ChildProcess {
  const env = { PATH: process.env["PATH"] ?? "", HOME: home }
  return spawn(process.execPath, args, { cwd: home, env, stdio: ["pipe", "pipe", "inherit"] })
}

async function measureExit(home: string, args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = run(home, args)
  child.stdout?.resume()
  await once(child, "exit")
  const ms = performance.now() - startedAt
  if (child.exitCode !== 0) throw new Error(`${args.join(" ")} ended with ${child.exitCode}`)
  return ms
}

/** The time until a command that was typed ahead is answered: the prompt was ready just before. */
async function measurePrompt(home: string, program: string): Promise<number> {
  const startedAt = performance.now()
  const child = run(home, [program])
  const ended = once(child, "exit")
  const giveUp = setTimeout(() => child.kill("SIGKILL"), GIVE_UP_MS)
  child.stdin?.write("/help\n")
  const ms = await untilPrinted(child, "quit").then(() => performance.now() - startedAt)
  child.stdin?.end("/quit\n")
  await ended
  clearTimeout(giveUp)
  return ms
}

async function untilPrinted(child: ChildProcess, wanted: string): Promise<void> {
  let printed = ""
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.stdout?.on("data", (chunk: Buffer) => {
    printed += chunk.toString()
    if (printed.includes(wanted)) resolve()
  })
  child.once("exit", () => reject(new Error(`the program ended before it answered: ${printed}`)))
  return promise
}
