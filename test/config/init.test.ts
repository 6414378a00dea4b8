import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { loadConfig } from "../../src/config/load-config.ts"
import { configSections } from "../../src/config-sections.ts"
import { lookAtFolder } from "../../src/program/folder.ts"
import { initFolder } from "../../src/program/init.ts"
import { createFolder } from "../support/workplace.ts"

const SETTING = /^(\s*)\/\/ (\w+: .*,(?: \/\/ .*)?)$/gm

function createProject() {
  const root = createFolder()
  const directory = join(root, "project")
  const homeDirectory = join(root, "home")
  mkdirSync(directory)
  const path = join(directory, "meanwhile.config.ts")
  return {
    path,
    directory,
    init: (force = false) => initFolder({ directory, homeDirectory, force }),
    trust: async () => (await lookAtFolder({ workingDirectory: directory, homeDirectory })).trust,
    load: () => loadConfig({ directory, sections: configSections(), isTrusted: true }),
  }
}

const loadDefaults = () =>
  loadConfig({ directory: createFolder(), sections: configSections(), isTrusted: true }).then(({ values }) => values)

describe("the file that init writes", () => {
  test("is trusted, and changes nothing", async () => {
    const { init, trust, load, path } = createProject()
    expect(await init()).toEqual({ path, isTrusted: true })
    expect(await trust()).toBe("trusted")
    const { status, values, plugins } = await load()
    expect(status).toBe("loaded")
    expect(values).toEqual(await loadDefaults())
    expect(plugins).toEqual({ entries: [], plugins: [] })
  })

  test("comes with the remedy in a folder of CommonJS, where it cannot be loaded", async () => {
    const { init, directory } = createProject()
    const manifest = join(directory, "package.json")
    writeFileSync(manifest, '{ "type": "commonjs" }')
    const { advice = "none" } = await init()
    expect(advice).toContain(`${manifest} says "type": "commonjs". Write "type": "module" there`)
    writeFileSync(manifest, '{ "type": "module" }')
    expect((await init(true)).advice).toBeUndefined()
  })

  test("has every key with its default: with all lines in force it still changes nothing", async () => {
    const { init, load, path } = createProject()
    await init()
    const text = readFileSync(path, "utf8")
    const keys = [...text.matchAll(SETTING)].length
    writeFileSync(path, text.replaceAll(SETTING, "$1$2"))
    const { status, values } = await load()
    expect(status).toBe("loaded")
    const defaults = await loadDefaults()
    expect(values).toEqual(defaults)
    const { engine: _engine, onExit: _onExit, instructionFiles: _instructionFiles, ...sections } = defaults
    const actual = Object.values(sections).flatMap((section) => Object.keys(section))
    // Three sections are single values, `plugins` is no section, and `references.directory` has no default.
    expect(keys).toBe(actual.length + 5)
  })

  test("says of every key what it does", async () => {
    const { init, path } = createProject()
    await init()
    const lines = readFileSync(path, "utf8").split("\n")
    const undescribed = lines.filter(
      (line, index) => /^\s*\/\/ \w+: /.test(line) && !/^\s*\/\*\* \S.* \*\/$/.test(lines[index - 1] ?? ""),
    )
    expect(undescribed).toEqual([])
  })
})

test("init leaves a configuration that is there as it is, and replaces it when forced to", async () => {
  const { init, path, trust } = createProject()
  writeFileSync(path, "export default {}")
  await expect(init()).rejects.toThrow("Use --force to replace it")
  expect(readFileSync(path, "utf8")).toBe("export default {}")
  await init(true)
  expect(readFileSync(path, "utf8")).toContain("satisfies ConfigInput")
  expect(await trust()).toBe("trusted")
})

test("init makes no second configuration beside one of another name, forced or not", async () => {
  const { init, path, directory } = createProject()
  writeFileSync(join(directory, "meanwhile.config.json"), "{}")
  await expect(init(true)).rejects.toThrow("Remove it first")
  expect(existsSync(path)).toBe(false)
})

test("init does not trust what else lies in a folder", async () => {
  const { init, directory, trust } = createProject()
  writeFileSync(join(directory, ".mcp.json"), "{}")
  expect(await init()).toMatchObject({ isTrusted: false })
  expect(await trust()).toBe("untrusted")
})

test("init does not trust again what else has changed in a folder", async () => {
  const { init, directory, path, trust } = createProject()
  await init()
  writeFileSync(join(directory, ".mcp.json"), "{}")
  expect(await trust()).toBe("changed")
  expect(await init(true)).toMatchObject({ path, isTrusted: false })
  expect(await trust()).toBe("changed")
})
