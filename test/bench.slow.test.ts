import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"

const main = fileURLToPath(new URL("../bench/main.ts", import.meta.url))
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "meanwhile-bench-"))
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

function bench(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { cwd: folder }, (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr })
    })
  })
}

test("with --json a benchmark prints one line per metric and nothing else", async () => {
  const { exitCode, stdout, stderr } = await bench("promotion", "--json")
  const metrics = stdout
    .trimEnd()
    .split("\n")
    .map((line) => Object.keys(JSON.parse(line) as object))
  expect(metrics).toEqual([["bench", "metric", "unit", "ours", "reference", "referenceName", "ratio", "bar", "holds"]])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
})

test("several benchmarks are measured one after the other, and their metrics are told together", async () => {
  const { exitCode, stdout } = await bench("shell", "promotion", "--json")
  const names = stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly bench: string }).bench)
  expect({ exitCode, names }).toEqual({ exitCode: 0, names: ["promotion", "shell"] })
})

test("a benchmark that does not exist is refused with the names of those that do", async () => {
  const { exitCode, stdout, stderr } = await bench("speed", "--json")
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" })
  expect(stderr).toContain(
    "No benchmark is named speed. There are: tasks, promotion, latency, history, recovery, sessions, shell, turn, delivery, start, package, postgres, postgres-history, postgres-cost, all.",
  )
})

test("an option that does not exist is refused, and --help is an answer", async () => {
  expect(await bench("tasks", "--fast")).toMatchObject({ exitCode: 2, stdout: "" })
  expect(await bench("--help")).toMatchObject({ exitCode: 0, stderr: "" })
})
