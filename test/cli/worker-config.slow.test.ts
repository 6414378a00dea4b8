import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** All lines of a worker in a folder with a configuration for workers. */
async function readLines(words: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  const directory = createFolder()
  const worker = { kinds: ["agent"], drainSeconds: 90 }
  writeFileSync(join(directory, "meanwhile.config.json"), JSON.stringify({ worker }))
  const started = startPiped({ directory, arguments: ["worker", "--trust", ...words], environment })
  await started.shows(/takes .* at once\.\n/)
  started.kill("SIGTERM")
  expect(await started.exited).toBe(0)
  return started.shown()
}

test("the configuration of a folder can say what its workers take, and how long they drain", async () => {
  const said = await readLines([], {})
  expect(said).toMatch(/takes agent tasks from/)
  expect(said).toMatch(/for 1 min 30 s at most/)
})

test("variables go before the configuration of a worker, and its options before both", async () => {
  const environment = { MEANWHILE_WORKER_KINDS: '["agent","tool"]', MEANWHILE_WORKER_DRAIN_SECONDS: "60" }
  const said = await readLines(["--kinds", "tool"], environment)
  expect(said).toMatch(/takes tool tasks from/)
  expect(said).toMatch(/for 1 min 0 s at most/)
})
