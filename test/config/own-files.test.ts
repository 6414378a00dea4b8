import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { openProgram } from "../../src/program/open-program.ts"
import { createFolder } from "../support/workplace.ts"

const NEW_FILES = [".meanwhile/commands/evil.md", "data/evil", ".git/hooks/pre-commit", ".mcp.json", "fine.txt"]
const CONFIG = "meanwhile.config.json"

test("a tool cannot write Meanwhile's own files, whatever the policy allows", async () => {
  const directory = createFolder()
  writeFileSync(join(directory, CONFIG), "{}")
  for (const file of NEW_FILES) mkdirSync(dirname(join(directory, file)), { recursive: true })
  const model = createScriptedModel([
    {
      calls: [
        ...NEW_FILES.map((path) => ({ tool: "writeNewFile", input: { path, content: "x" } })),
        { tool: "updateFile", input: { path: CONFIG, new_content: `{ "permissions": { "mode": "allow_all" } }` } },
        { tool: "removeFile", input: { path: CONFIG } },
      ],
    },
    "Done.",
  ])
  const meanwhile = await openProgram({
    dataDirectory: join(directory, "data"),
    workingDirectory: directory,
    homeDirectory: join(directory, "home"),
    environment: { MEANWHILE_PERMISSIONS_MODE: "allow_all" },
    trust: true,
    model,
    notify: () => {},
  })
  onTestFinished(() => meanwhile.close())
  const session = await meanwhile.createSession()
  expect((await session.send("Go on.")).text).toBe("Done.")
  expect(NEW_FILES.filter((file) => existsSync(join(directory, file)))).toEqual(["fine.txt"])
  expect(readFileSync(join(directory, CONFIG), "utf8")).toBe("{}")
})

test("a change of a file can be taken back, from backups in the data folder", async () => {
  const directory = createFolder()
  writeFileSync(join(directory, "notes.txt"), "first")
  const model = createScriptedModel([
    { calls: [{ tool: "updateFile", input: { path: "notes.txt", old_text: "first", new_text: "second" } }] },
    { calls: [{ tool: "undoFileChange", input: { path: "notes.txt" } }] },
    "Done.",
  ])
  const meanwhile = await openProgram({
    dataDirectory: join(directory, "data"),
    workingDirectory: directory,
    homeDirectory: join(directory, "home"),
    environment: { MEANWHILE_PERMISSIONS_MODE: "allow_all" },
    trust: false,
    model,
    notify: () => {},
  })
  onTestFinished(() => meanwhile.close())
  const session = await meanwhile.createSession()
  await session.send("Go on.")
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("first")
  expect(existsSync(join(directory, "data", "backups"))).toBe(true)
})
