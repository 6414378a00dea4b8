import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { runToEnd } from "../support/program.ts"
import { isPostgres, storeVariables } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

async function run(prompt: string, more: readonly string[] = [], environment: Record<string, string> = {}) {
  const directory = createFolder()
  const ended = await runToEnd({
    directory,
    arguments: ["run", prompt, ...more],
    environment: { ...QUICK, ...(await storeVariables(directory)), ...environment },
  })
  expect(existsSync(join(directory, ".meanwhile/store.sqlite")), "its store is a file").toBe(!isPostgres)
  return ended
}

interface Result {
  readonly outcome: string
  readonly text: string
  readonly error?: string
  readonly reports: readonly { readonly text: string; readonly taskIds: readonly string[] }[]
  readonly tasks: readonly { readonly status: string; readonly title: string }[]
}

const toLines = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly type: string })

describe("C14. `meanwhile run` (headless) does not exit before the last background task's report, and its exit code tells the outcome", () => {
  test("the report of a command that went to the background is printed like the answer, and all is well", async () => {
    const { exitCode, stdout, stderr } = await run("run `sleep 2; echo late`")
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/goes on in the background as task [\s\S]*\nsleep 2; echo late has completed: late\n$/)
    expect(stderr).toMatch(
      /\[([0-9a-f]{8})\] completed in .*: sleep 2; echo late\n\(about task \1: sleep 2; echo late\)/,
    )
    expect(stderr).not.toContain("  late\n")
  })

  test("one failure among tasks that report as one is said in the report, and by the exit code", async () => {
    const { exitCode, stdout } = await run("run `echo one`, `sleep 0.3; exit 3` and `echo two` together as checks", [
      "--json",
    ])
    expect(exitCode).toBe(1)
    const lines = toLines(stdout)
    const published = lines.filter(({ type }) => type === "report.published")
    expect(published).toHaveLength(1)
    const result = lines.at(-1) as unknown as Result
    expect(result).toMatchObject({ outcome: "failed", error: expect.stringMatching(/^A task failed: \[/) as string })
    expect(result.tasks.map(({ status }) => status).toSorted()).toEqual(["completed", "completed", "failed"])
    expect(result.reports).toHaveLength(1)
    expect(result.reports[0]?.taskIds).toHaveLength(3)
    const text = result.reports[0]?.text
    for (const part of ["echo one has completed: one", "exited with 3", "echo two has completed: two"])
      expect(text).toContain(part)
  })

  test("what an agent in the background came to is waited for and reported", async () => {
    const { exitCode, stdout } = await run("start an agent to run `sleep 2; echo below`")
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/is (?:running|queued) in the background[\s\S]*has completed: .*below/)
  })

  test("with reports off it waits for the tasks all the same, and tells their ends", async () => {
    const { exitCode, stdout, stderr } = await run("run `sleep 2; echo late; exit 3`", [], {
      MEANWHILE_REPORTS_ENABLED: "false",
    })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/\[([0-9a-f]{8})\] failed after .* exited with 3\.\n {2}late\n[\s\S]*A task failed: \[\1\]/)
    expect(stdout).not.toContain("has failed")
  })

  test("what only a person can bring on is not waited for: it says so, and ends with a code of its own", async () => {
    const { exitCode, stderr } = await run("start an agent to ask me which colour: red, green or blue")
    expect(exitCode).toBe(4)
    expect(stderr).toMatch(
      /\[([0-9a-f]{8})\] The agent asks: which colour\n[^]*? {2}1\) red\n[\s\S]*meanwhile tasks answer \1 NUMBER\|TEXT/,
    )
  })
})
