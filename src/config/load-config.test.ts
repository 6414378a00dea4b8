import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { loadConfig } from "./load-config.ts"
import { sections, useConfigFolder } from "../../test/support/config/config-folder.ts"

const { load, loadTrusted, directory } = useConfigFolder()

describe("loading the configuration", () => {
  it("gives defaults when the folder has no file", async () => {
    expect(await load()).toEqual({
      status: "absent",
      values: {
        background: { maxConcurrentTasks: 10, timeoutOverrideSeconds: null },
        model: { name: "offline" },
        prices: {},
        place: null,
        rules: { list: [] },
      },
      plugins: { entries: [], plugins: [] },
    })
  })

  it("takes a section that is a single value from the file, and before it from its variable", async () => {
    const content = `{ "place": "/file" }`
    expect((await loadTrusted("meanwhile.config.json", content)).values.place).toBe("/file")
    expect((await load({ MEANWHILE_PLACE: "/variable" }, true)).values.place).toBe("/variable")
    expect((await loadTrusted("meanwhile.config.json", `{ "place": null }`)).values.place).toBeNull()
    await expect(load({ MEANWHILE_PLACE: "here" })).rejects.toThrow(
      "place (set by the environment variable MEANWHILE_PLACE): must be a path",
    )
    await expect(load({ MEANWHILE_PLACE_URL: "/variable" })).rejects.toThrow("Did you mean MEANWHILE_PLACE?")
  })

  it.each([
    ["meanwhile.config.json", `{ "background": { "maxConcurrentTasks": 3 }, "plugins": ["pkg"] }`],
    ["meanwhile.config.mjs", `export default { background: { maxConcurrentTasks: 3 }, plugins: ["pkg"] }`],
    [
      "meanwhile.config.ts",
      `const tasks: number = 3\nexport default { background: { maxConcurrentTasks: tasks }, plugins: ["pkg"] }`,
    ],
  ])("reads %s", async (name, content) => {
    const loaded = await loadTrusted(name, content)
    expect(loaded).toMatchObject({
      status: "loaded",
      path: expect.stringContaining(name) as unknown,
      values: { background: { maxConcurrentTasks: 3 }, model: { name: "offline" } },
      plugins: { entries: [{ source: "pkg" }] },
    })
  })

  it("takes plugins by name, by path with a configuration, and as objects", async () => {
    const content = `export default { plugins: [
      "a-package",
      { source: "./local.ts", expose: false, config: { key: 1 } },
      { kind: "tool", name: "inline", tools: [] },
    ] }`
    const { plugins } = await loadTrusted("meanwhile.config.mjs", content)
    expect(plugins).toEqual({
      entries: [{ source: "a-package" }, { source: "./local.ts", expose: false, config: { key: 1 } }],
      plugins: [{ kind: "tool", name: "inline", tools: [] }],
    })
  })

  it("reads a file that changed anew", async () => {
    const first = await loadTrusted("meanwhile.config.mjs", `export default { model: { name: "one" } }`)
    const second = await loadTrusted("meanwhile.config.mjs", `export default { model: { name: "two" } }`)
    expect([first.values.model.name, second.values.model.name]).toEqual(["one", "two"])
  })

  it("refuses two files in one folder", async () => {
    await writeFile(join(directory(), "meanwhile.config.ts"), "export default {}")
    await writeFile(join(directory(), "meanwhile.config.json"), "{}")
    await expect(load()).rejects.toThrow("There are two configurations")
  })
})

describe("another spelling of a key", () => {
  it("is accepted in its place", async () => {
    const loaded = await loadTrusted("meanwhile.config.json", `{ "model": { "modelName": "one" } }`)
    expect(loaded.values.model).toEqual({ name: "one" })
  })

  it("is refused beside the key itself", async () => {
    const refused = loadTrusted("meanwhile.config.json", `{ "model": { "modelName": "one", "name": "two" } }`)
    await expect(refused).rejects.toThrow(
      "model.modelName: modelName and name are two spellings of the same key. Delete modelName, and keep name.",
    )
  })
})

describe("a mistake in the configuration", () => {
  it.each([
    [`{ "background": { "maxConcurrentTasks": "3" } }`, ["background.maxConcurrentTasks: must be a number"]],
    [`{ "background": { "maxConcurrentTasks": 0 } }`, ["background.maxConcurrentTasks: must be above 0"]],
    [`{ "background": { "maxConcurrentTasks": 2.5 } }`, ["background.maxConcurrentTasks: must be a whole number"]],
    [`{ "prices": { "a": {} } }`, ["prices.a.input: is missing; it must be a number"]],
    [
      `{ "background": { "maxTasks": 3 } }`,
      ["background.maxTasks:", "Allowed here: maxConcurrentTasks, timeoutOverrideSeconds."],
    ],
    [
      `{ "backgrund": {} }`,
      [
        "backgrund: there is no such key. Did you mean background?",
        "Allowed here: background, model, place, plugins, prices, rules.",
      ],
    ],
    [`{ "maxConcurrentTasks": 3 }`, ["maxConcurrentTasks:", "Did you mean background.maxConcurrentTasks?"]],
    [`{ "mcp": {} }`, ["mcp: there is no such key. MCP servers are listed in .mcp.json beside this file."]],
    [`{ "prices": { "a": { "input": 1, "cache": 2 } } }`, ["prices.a.cache:", "Did you mean cached?"]],
    [`{ "rules": { "list": [{ "tools": "x", "tool": "y" }] } }`, ["rules.list.0.tools:", "Allowed here: tool."]],
    [`{ "background": 3 }`, ["background: must be an object"]],
    [`{ "plugins": "shell" }`, ["plugins: must be a list"]],
    [`{ "plugins": [{ "path": "./x.ts" }] }`, ["plugins.0: must be a package name, a path"]],
    [`[]`, ["is not valid:\n  it must be an object"]],
    [`{ "a": `, ["meanwhile.config.json cannot be read"]],
  ])("%s is refused with the key and what is allowed", async (content, messages) => {
    const refused = loadTrusted("meanwhile.config.json", content)
    await expect(refused).rejects.toMatchObject({ code: "invalid_input" })
    for (const message of ["meanwhile.config.json", ...messages]) await expect(refused).rejects.toThrow(message)
  })

  it("is reported together with all other mistakes", async () => {
    const refused = loadTrusted(
      "meanwhile.config.json",
      `{ "background": { "maxConcurrentTasks": -1 }, "model": { "name": 1 } }`,
    )
    await expect(refused).rejects.toMatchObject({
      details: { problems: [{ key: "background.maxConcurrentTasks" }, { key: "model.name" }] },
    })
  })

  it("that imports the package where it is not installed is told what to write instead", async () => {
    const content = 'import { defineConfig } from "meanwhile"\nexport default defineConfig({})'
    await expect(loadTrusted("meanwhile.config.mjs", content)).rejects.toThrow("import type { ConfigInput }")
  })

  it("in a module without a default export, or that throws, is reported plainly", async () => {
    await expect(loadTrusted("meanwhile.config.mjs", "export const config = {}")).rejects.toThrow(
      "has no default export",
    )
    await expect(loadTrusted("meanwhile.config.mjs", `throw new Error("boom")`)).rejects.toThrow("cannot be read: boom")
  })
})

describe("defaults of the caller", () => {
  it("count where neither the file nor the environment says anything", async () => {
    await writeFile(join(directory(), "meanwhile.config.json"), `{ "background": { "maxConcurrentTasks": 3 } }`)
    const defaults = { background: { maxConcurrentTasks: 7, timeoutOverrideSeconds: 5 }, model: { name: "other" } }
    const loaded = await loadConfig({
      directory: directory(),
      sections,
      isTrusted: true,
      environment: { MEANWHILE_MODEL_NAME: "third" },
      defaults,
    })
    expect(loaded.values).toMatchObject({
      background: { maxConcurrentTasks: 3, timeoutOverrideSeconds: 5 },
      model: { name: "third" },
    })
  })
})

describe("a folder nobody has trusted", () => {
  it("has its configuration neither run nor used", async () => {
    const content = `globalThis.wasRun = true\nexport default { model: { name: "evil" }, plugins: ["evil"] }`
    await writeFile(join(directory(), "meanwhile.config.mjs"), content)
    const loaded = await load({ MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS: "2" })
    expect(loaded).toMatchObject({
      status: "untrusted",
      path: expect.stringContaining("meanwhile.config.mjs") as unknown,
      values: { model: { name: "offline" }, background: { maxConcurrentTasks: 2 } },
      plugins: { entries: [], plugins: [] },
    })
    expect("wasRun" in globalThis).toBe(false)
  })
})
