import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { measureComputingMs } from "../../../test/support/computing-time.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { textOf } from "../../plugin/message.ts"
import { createRegistry } from "../../plugin/registry.ts"
import { contentOf, isToolReturn } from "../../plugin/tool.ts"
import type { CommandContext } from "../../plugin/user-command.ts"
import { fillTemplate, splitWords, createSlashCommandPlugin } from "./slash-command-plugin.ts"
import { splitFrontMatter } from "../../base/front-matter.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"

async function open(files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-commands-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const own = join(folder, "own")
  const shared = join(folder, "shared")
  for (const each of [own, shared]) mkdirSync(each)
  const put = (path: string, text: string) => writeFileSync(join(folder, path), text)
  for (const [path, text] of Object.entries(files)) put(path, text)
  const plugin = createSlashCommandPlugin({ directories: [own, shared, join(folder, "missing")] })
  const registry = createRegistry()
  await registry.register(plugin)
  const commands = () => registry.userCommands().map(({ command }) => command)
  return {
    folder,
    put,
    plugin,
    registry,
    commands,
    type: async (name: string, argument: string) =>
      commands()
        .find((command) => command.name === name)
        ?.run(argument, {} as CommandContext),
    process: async (command_name: string, args?: string) => {
      const { tool } = registry.findTool("processCommand")
      const returned = await tool.run(parsed(tool.input, { command_name, args }), {} as ToolContext)
      if (!isToolReturn(returned) || !("patch" in returned)) throw new Error("the tool handed back no patch")
      return textOf({ role: "user", parts: contentOf(returned.patch.payload) ?? [] })
    },
  }
}

describe("a command file", () => {
  it("is a user command that sends its text to the model, arguments filled in", async () => {
    const { type, commands } = await open({
      "own/review.md":
        "---\ndescription: Reviews a file.\nargument-hint: <file> [focus]\n---\nReview $1, all of: $ARGUMENTS\n",
    })
    expect(await type("review", 'src/a.ts "error handling"')).toEqual({
      prompt: 'Review src/a.ts, all of: src/a.ts "error handling"',
    })
    expect(commands()).toMatchObject([
      { name: "review", description: "Reviews a file.", usage: "<file> [focus]", shareWithModel: false },
    ])
  })

  it("is given to the model by processCommand, with or without the slash", async () => {
    const { process } = await open({ "own/greet.md": "# Greet\nSay {{args}} to {{1}}." })
    expect(await process("greet", "hello")).toBe("# Greet\nSay hello to hello.")
    expect(await process("/greet", "hi")).toContain("Say hi")
  })

  it("is read when it is used, so that a change shows at once", async () => {
    const { put, type, process } = await open({ "own/greet.md": "Say hello." })
    put("own/greet.md", "Say goodbye.")
    expect(await type("greet", "")).toEqual({ prompt: "Say goodbye." })
    expect(await process("greet")).toBe("Say goodbye.")
  })

  it("comes into the list at a refresh, and the first folder wins", async () => {
    const { put, plugin, commands, registry, type } = await open({ "shared/greet.md": "shared" })
    expect(registry.systemInstructions()[0]?.text).toContain("- /greet: shared")
    put("own/greet.md", "own")
    put("own/fresh.md", "Fresh.")
    expect(commands().map(({ name }) => name)).toEqual(["greet"])
    await plugin.refresh()
    expect(commands().map(({ name }) => name)).toEqual(["fresh", "greet"])
    expect(await type("greet", "")).toEqual({ prompt: "own" })
  })

  it("that cannot be used says why, to the person who types it and to the model", async () => {
    const { folder, put, plugin, commands, process, registry, type } = await open({
      "own/empty.md": "---\ndescription: Nothing.\n---\n",
      "own/huge.md": "x".repeat(129 * 1024),
      "own/open.md": "---\ndescription: Never closed.\nDo it.",
      "own/Loud.md": "upper case",
      "own/notes.txt": "no command",
    })
    put("secret.md", "secret")
    symlinkSync(join(folder, "secret.md"), join(folder, "own", "leak.md"))
    mkdirSync(join(folder, "own", "folder.md"))
    await plugin.refresh()
    expect(commands().map(({ name }) => name)).toEqual(["empty", "folder", "huge", "leak", "open"])
    expect(commands()[0]?.description).toMatch(/^Cannot be used: .*empty\.md has no text/)
    await expect(type("empty", "")).rejects.toThrow("empty.md has no text")
    expect(registry.systemInstructions()).toEqual([])
    await expect(process("empty")).rejects.toThrow("empty.md has no text")
    await expect(process("huge")).rejects.toThrow("huge.md is no text file of at most")
    await expect(process("open")).rejects.toThrow("open.md has front matter that is not closed")
    await expect(process("folder")).rejects.toThrow("folder.md is no text file")
    await expect(process("leak")).rejects.toThrow("leads out of its folder")
  })
})

describe("a name", () => {
  it("that is not known gets the near ones", async () => {
    const { process } = await open({ "own/review.md": "Review.", "own/greet.md": "Greet." })
    await expect(process("reviw")).rejects.toThrow("Did you mean /review?")
    await expect(process("xyzzy-plugh")).rejects.toThrow("There are /greet, /review.")
    await expect((await open()).process("x")).rejects.toMatchObject({ code: "not_found" })
  })

  it.each(["../secret", "own/../../secret", "..", "/../secret", "secret.md", "a\0b", "/etc/passwd"])(
    "cannot lead out of the folder: %j",
    async (name) => {
      const { put, process } = await open({ "own/a.md": "a" })
      put("secret.md", "secret")
      await expect(process(name)).rejects.toMatchObject({ code: "not_found" })
    },
  )

  it("of a folder must be an absolute path", () => {
    expect(() => createSlashCommandPlugin({ directories: ["commands"] })).toThrow("absolute")
  })
})

describe("filling in arguments", () => {
  it.each([
    ["$ARGUMENTS|{{args}}|{{ args }}", "a b", "a b|a b|a b"],
    ["$1 $2 $3", "one 'two words'", "one two words"],
    ["{{1}}-{{2}}", '"" x', "-x"],
    ["$1", "$2 $ARGUMENTS", "$2"],
    ["$ARGUMENTS $1", "$(rm -rf /) `id`", "$(rm -rf /) `id` $(rm"],
    ["costs \\$1 and \\$ARGUMENTS", "x", "costs $1 and $ARGUMENTS\n\nx"],
    ["$10 and $ARGUMENTSX", "x", "$10 and $ARGUMENTSX\n\nx"],
    ["no place", "", "no place"],
    ["no place\n", "for these", "no place\n\nfor these"],
    ["$1", "it's", "it's"],
  ])("%j with %j", (template, argument, expected) => {
    expect(fillTemplate(template, argument)).toBe(expected)
  })

  it("splits as people quote, and takes no longer for text made to be slow", () => {
    expect(splitWords(`a "b c"d 'e "f"' "open`)).toEqual(["a", "b cd", 'e "f"', '"open'])
    const tookMs = measureComputingMs(() => {
      splitWords(`"${"a".repeat(30_000)}`)
      splitWords("\"'".repeat(15_000))
    })
    expect(tookMs).toBeLessThan(1_000)
  })
})

it("reads front matter with either line end, and takes an open block for text, and says so", () => {
  const read = (text: string) => {
    const { fields, body, isUnclosed } = splitFrontMatter(text)
    return { fields: Object.fromEntries(fields), body, ...(isUnclosed && { isUnclosed }) }
  }
  expect(read("---\r\nName: 'a: b'\r\n# note\r\n---\r\nbody")).toEqual({ fields: { name: "a: b" }, body: "body" })
  expect(read("\ufeff---\n---\nbody")).toEqual({ fields: {}, body: "body" })
  expect(read("---\nname: a\nbody")).toEqual({ fields: {}, body: "---\nname: a\nbody", isUnclosed: true })
  expect(read("---\n\nbody")).toEqual({ fields: {}, body: "---\n\nbody" })
  expect(read("body\n---\n")).toEqual({ fields: {}, body: "body\n---\n" })
})
