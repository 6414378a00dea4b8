import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openProgram } from "../../src/program.ts"
import { createTrustStore } from "../../src/config/trust.ts"

const CONFIG = `export default {
  background: { maxConcurrentTasks: 1 },
  plugins: ["./tickets.mjs", "./missing.mjs"],
}`
const PLUGIN = `globalThis.ticketsWereLoaded = true
export default { kind: "tool", name: "tickets", tools: [] }`

function createFolder() {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-folder-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "meanwhile.config.mjs"), CONFIG)
  writeFileSync(join(directory, "tickets.mjs"), PLUGIN)
  const trustStore = createTrustStore({ path: join(directory, "home", "trusted.json") })
  const told: string[] = []
  async function open(trust: boolean) {
    const meanwhile = await openProgram({
      dataDirectory: join(directory, "data"),
      workingDirectory: directory,
      environment: { PATH: process.env["PATH"] },
      trust,
      trustStore,
      notify: (text) => told.push(text),
    })
    onTestFinished(() => meanwhile.close())
    return meanwhile.plugins.list().map(({ name }) => name)
  }
  return { open, told }
}

test("a cloned folder's config does nothing until the person trusts the folder", async () => {
  const { open, told } = createFolder()
  expect(await open(false)).toEqual(["shell"])
  expect("ticketsWereLoaded" in globalThis).toBe(false)
  expect(told).toEqual([expect.stringContaining("nobody has trusted it")])
})

test("a trusted folder's plugins are there, now and at the next start, and one that does not load is told of", async () => {
  const { open, told } = createFolder()
  expect(await open(true)).toEqual(["shell", "tickets"])
  expect(await open(false)).toEqual(["shell", "tickets"])
  expect(told[0]).toContain("./missing.mjs did not load")
})
