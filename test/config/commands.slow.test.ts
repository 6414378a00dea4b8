import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createOwnEnvironment } from "../support/own-environment.ts"
import { createFolder } from "../support/workplace.ts"
import { builtProgram } from "../support/built-program.ts"

const MAIN = builtProgram("cli/main")

function createProject() {
  const root = createFolder()
  const directory = join(root, "project")
  mkdirSync(directory)
  const env = createOwnEnvironment(join(root, "home"))
  const run = (...words: readonly string[]) =>
    new Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>((resolve) => {
      execFile(process.execPath, [MAIN, ...words], { cwd: directory, env }, (error, stdout, stderr) =>
        resolve({ code: error ? error.code : 0, stdout, stderr }),
      )
    })
  return { directory, run }
}

test("a folder is trusted, listed, and its trust revoked", async () => {
  const { directory, run } = createProject()
  expect((await run("trust")).stdout).toContain("There is nothing in")
  writeFileSync(join(directory, ".mcp.json"), "{}")
  expect(await run("trust", ".")).toMatchObject({ code: 0, stdout: expect.stringContaining("  .mcp.json\n") })
  expect((await run("trust", "list")).stdout).toContain(`${directory}  1 file, since `)
  expect((await run("trust", "revoke")).stdout).toBe(`${directory} is trusted no longer.\n`)
  expect((await run("trust", "revoke")).stdout).toBe(`${directory} was not trusted.\n`)
  expect((await run("trust", "list")).stdout).toBe("You trust no folder.\n")
  expect(await run("trust", "nowhere")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There is no folder"),
  })
})

test("init writes a trusted configuration once, and doctor finds no problem in it", async () => {
  const { run } = createProject()
  expect(await run("init")).toMatchObject({ code: 0, stdout: expect.stringContaining("It is trusted as it is") })
  expect(await run("init")).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") })
  expect(await run("init", "--force")).toMatchObject({ code: 0 })
  const { code, stdout } = await run("doctor")
  expect(stdout).toMatch(/^ok {7}config +.*meanwhile\.config\.ts is valid$/m)
  expect(stdout).toMatch(/^warning {2}keys +.*\n +→ Set a key/m)
  expect(code).toBe(0)
})

test("doctor exits with 1 when something is a problem, and says so as data too", async () => {
  const { directory, run } = createProject()
  writeFileSync(join(directory, "meanwhile.config.json"), `{ "agent": { "modle": "x" } }`)
  await run("trust")
  const { code, stdout } = await run("doctor", "--json")
  expect(code).toBe(1)
  const findings = JSON.parse(stdout) as { check: string; status: string; text: string }[]
  expect(findings.find(({ check }) => check === "config")).toMatchObject({
    status: "problem",
    text: expect.stringContaining("agent.modle: there is no such key. Did you mean model?"),
  })
})

test.each([
  ["meanwhile.config.ts", "export default {\n  gc: {}\n  web: {},\n}", "line 3: "],
  ["meanwhile.config.mjs", "export default {\n  gc: {\n  web: {},\n}\n", "line 5: Unexpected end of input"],
  ["meanwhile.config.ts", "\nexport default { gc: nothing }", "line 2: nothing is not defined"],
  ["meanwhile.config.json", "{\n,}", "line 2"],
  ["meanwhile.config.ts", 'import { defineConfig } from "meanwhile"\n', "import type { ConfigInput }"],
])("a mistake in %s is told with its place, or with what to do: %j", async (name, content, message) => {
  const { directory, run } = createProject()
  writeFileSync(join(directory, name), content)
  await run("trust")
  expect((await run("doctor")).stdout).toContain(message)
})

test("a removed working folder is reported in plain words", async () => {
  const { directory } = createProject()
  const program = `cd "${directory}" && rmdir "${directory}" && exec "${process.execPath}" "${MAIN}" tasks`
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile("/bin/sh", ["-c", program], (error, _, text) => resolve({ code: error?.code, stderr: text }))
  })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^meanwhile: The folder you are in is not there any more\./)
})
