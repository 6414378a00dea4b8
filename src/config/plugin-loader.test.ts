import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createRegistry } from "../plugin/registry.ts"
import { createPluginLoader } from "./plugin-loader.ts"

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "meanwhile-plugins-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

async function write(path: string, content: string | object): Promise<void> {
  const full = join(directory, path)
  await mkdir(dirname(full), { recursive: true })
  await writeFile(full, typeof content === "string" ? content : JSON.stringify(content))
}

const load = async (source: string, config?: unknown): Promise<unknown> =>
  createPluginLoader({ directory })({ source, ...(config !== undefined && { config }) })

it.each([
  ["its default export", `export default { kind: "tool", name: "local", tools: [] }`],
  ["an export named plugin", `export const plugin = { kind: "tool", name: "local", tools: [] }`],
  ["what createPlugin makes", `export const createPlugin = async () => ({ kind: "tool", name: "local", tools: [] })`],
])("takes from a path %s", async (_, content) => {
  await write("plugins/local.ts", content)
  expect(await load("./plugins/local.ts")).toEqual({ kind: "tool", name: "local", tools: [] })
})

it("hands the configuration to a factory", async () => {
  await write("local.mjs", `export default (config) => ({ kind: "tool", name: config.name, tools: [] })`)
  expect(await load("./local.mjs", { name: "made" })).toMatchObject({ name: "made" })
})

it.each([
  ["main", { main: "index.js" }],
  ["exports", { exports: "./index.js" }],
  ["exports by condition", { exports: { ".": { types: "./index.d.ts", default: "./index.js" } } }],
  ["exports for import only", { exports: { ".": { import: { types: "./index.d.ts", default: "./index.js" } } } }],
])("finds a package installed for the folder by its %s", async (_, manifest) => {
  await write("node_modules/some-plugin/package.json", { name: "some-plugin", type: "module", ...manifest })
  await write("node_modules/some-plugin/index.js", `export default { kind: "tool", name: "packaged", tools: [] }`)
  expect(await load("some-plugin")).toMatchObject({ name: "packaged" })
})

it("says what to do when a package is not installed", async () => {
  await expect(load("no-such-plugin")).rejects.toThrow("Run: npm install no-such-plugin")
})

it("says from where a path is taken when there is no such file", async () => {
  await expect(load("./no-such.ts")).rejects.toThrow(`there is no file ${join(directory, "no-such.ts")}. The path`)
})

it("lets a registry skip what fails and take the rest", async () => {
  await write("good.mjs", `export default { kind: "tool", name: "good", tools: [] }`)
  await write("throws.mjs", `throw new Error("boom")`)
  await write("empty.mjs", "export const nothing = 1")
  await write("shapeless.mjs", "export default { kind: 'tool' }")
  const registry = createRegistry()
  const sources = ["./throws.mjs", "./missing.mjs", "./empty.mjs", "./shapeless.mjs", "./good.mjs", "no-such-plugin"]
  await registry.discover(
    sources.map((source) => ({ source })),
    createPluginLoader({ directory }),
  )
  expect(registry.list().map(({ name }) => name)).toEqual(["good"])
  expect(registry.skipped().map(({ name, reason }) => [name, reason])).toEqual([
    ["./throws.mjs", "failed_to_load"],
    ["./missing.mjs", "failed_to_load"],
    ["./empty.mjs", "failed_to_load"],
    ["./shapeless.mjs", "wrong_shape"],
    ["no-such-plugin", "failed_to_load"],
  ])
})

it("takes from a package's folder what its manifest exports, and says so when it exports nothing", async () => {
  await write("packages/one/package.json", {
    name: "one",
    type: "module",
    exports: { ".": { import: "./lib/main.js" } },
  })
  await write("packages/one/lib/main.js", `export default { kind: "tool", name: "one", tools: [] }`)
  expect(await load("./packages/one")).toMatchObject({ name: "one" })
  await write("packages/two/package.json", { name: "two" })
  await expect(load("./packages/two")).rejects.toThrow("Name the plugin's file")
})
