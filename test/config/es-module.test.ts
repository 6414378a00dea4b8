import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { createFolder } from "../support/workplace.ts"

const run = promisify(execFile)

/** Node's own loader refuses these files, and the loader of the tests does not, so a process of its own loads them. */
const LOADING = `
import { loadConfig } from ${JSON.stringify(new URL("../../src/config/load-config.ts", import.meta.url).href)}
import { createPluginLoader } from ${JSON.stringify(new URL("../../src/config/plugin-loader.ts", import.meta.url).href)}
const directory = process.cwd()
const load = createPluginLoader({ directory })
const results = await Promise.allSettled([
  loadConfig({ directory, sections: {}, isTrusted: true }),
  load({ source: "./imports.js" }),
  load({ source: "./meta.ts" }),
  load({ source: "./broken.js" }),
  load({ source: "./fine/index.js" }),
])
console.log(JSON.stringify(results.map(({ reason }) => reason?.message ?? null)))
`

test("a configuration and a plugin in a folder of CommonJS are refused with the cause and the remedy", async () => {
  const directory = createFolder()
  mkdirSync(join(directory, "fine"))
  const manifest = join(directory, "package.json")
  const files = {
    "package.json": '{ "type": "commonjs" }',
    "meanwhile.config.ts": "export default {}",
    "imports.js": 'import "node:fs"',
    "meta.ts": "console.log(import.meta.url)",
    "broken.js": "const const",
    "fine/package.json": "{}",
    "fine/index.js": "export default {}",
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", LOADING], { cwd: directory })
  const [config, imports, meta, broken, fine] = JSON.parse(stdout) as readonly (string | null)[]
  const remedy = `it is an ES module, but ${manifest} says "type": "commonjs". Write "type": "module" there, or name the file`
  expect(config).toBe(
    `${join(directory, "meanwhile.config.ts")} cannot be read: ${remedy} meanwhile.config.mjs, without types.`,
  )
  expect(imports).toBe(`${remedy} imports.mjs`)
  expect(meta).toBe(`${remedy} meta.mjs, without types`)
  expect(broken).toBe("Unexpected token 'const'")
  expect(fine).toBeNull()
})
