import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { expect, onTestFinished, test } from "vitest"
import { createOwnEnvironment } from "../support/own-environment.ts"
import { withPatience } from "../support/patience.ts"
import { createFolder } from "../support/workplace.ts"
import { builtProgram } from "../support/built-program.ts"

const MAIN = builtProgram("cli/main")

/** Runs the program, with a reader that closes the output after the first piece. */
async function readLittle(directory: string, words: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd: directory,
    env: createOwnEnvironment(directory, { TERM: "xterm" }),
    stdio: ["ignore", "pipe", "pipe"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  child.stdout.once("data", () => child.stdout.destroy())
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve))
  const ended = Promise.all([text(child.stderr), exited])
  const [stderr, exitCode] = await withPatience(ended, () => `\`meanwhile ${words.join(" ")}\` has not ended.`)
  return { stderr, exitCode }
}

test("a run whose output is no longer read ends at once, without a stack trace", async () => {
  const { stderr, exitCode } = await readLittle(createFolder(), ["run", "--json", "run `sleep 300`"])
  expect(stderr).not.toMatch(/EPIPE|at .*\.ts:\d/)
  expect(exitCode).toBe(141)
})
