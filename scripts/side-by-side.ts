import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"

/** Runs npm scripts at the same time: `node scripts/side-by-side.ts NAME…`. Prints each one's output once it has ended. */
const results = await Promise.all(process.argv.slice(2).map(run))
process.exitCode = results.every((isGood) => isGood) ? 0 : 1

async function run(name: string): Promise<boolean> {
  const startedMs = performance.now()
  const child = spawn("npm", ["run", "--silent", name], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: "1" }) },
  })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  const [said, complained, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  process.stdout.write(`${said}${complained}${exitCode === 0 ? "✓" : "✗"} ${name} (${seconds} s)\n`)
  return exitCode === 0
}
