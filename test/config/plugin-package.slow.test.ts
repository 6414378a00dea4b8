import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { runProgram } from "../support/documents/run-program.ts"
import { createFolder } from "../support/workplace.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const NAME = "meanwhile-plugin-units"
const SESSION = fileURLToPath(new URL("../support/config/package-session.ts", import.meta.url))

/** A folder with the packages that a person would install in it, and the plugin's package if it is wanted. */
function createProject(plugins: readonly unknown[], place: string): string {
  const directory = createFolder()
  mkdirSync(join(directory, "node_modules"))
  symlinkSync(root, join(directory, "node_modules", "meanwhile"))
  symlinkSync(join(root, "node_modules", "zod"), join(directory, "node_modules", "zod"))
  cpSync(join(root, "examples/packages", NAME), join(directory, place), { recursive: true })
  writeFileSync(join(directory, "meanwhile.config.json"), JSON.stringify({ plugins }))
  return directory
}

test.each([
  ["its name", [NAME], `node_modules/${NAME}`, 42.16],
  ["its name, with a configuration", [{ source: NAME, config: { decimals: 0 } }], `node_modules/${NAME}`, 42],
  ["its folder", [`./packages/${NAME}`], `packages/${NAME}`, 42.16],
])(
  "a plugin in a package of its own, given by %s, is found and behaves like a built-in one",
  async (_, plugins, place, km) => {
    const directory = createProject(plugins, place)
    const seen = JSON.parse(await runProgram(SESSION, directory, ["--conditions=@meanwhile/source"])) as unknown
    expect(seen).toMatchObject({
      notified: [],
      text: "That is a marathon.",
      system: expect.stringContaining("Convert lengths with convert_length, never by heart."),
      offered: expect.arrayContaining(["convert_length", "run_command"]),
      command: "mm, cm, m, km, inch, foot, yard, mile",
    })
    expect(JSON.stringify(seen)).toContain(`How far are 26.2 miles (${km} km)?`)
    expect(JSON.stringify(seen)).toMatch(new RegExp(`\\\\?"value\\\\?":${km},\\\\?"unit\\\\?":\\\\?"km\\\\?"`))
  },
)

test("a package that is not installed is reported with the command that installs it, and the rest works", async () => {
  const directory = createProject(["meanwhile-plugin-nobody"], "elsewhere")
  const printed = await runProgram(SESSION, directory, ["--conditions=@meanwhile/source"])
  expect(JSON.parse(printed)).toMatchObject({
    notified: [expect.stringContaining("npm install meanwhile-plugin-nobody")],
  })
})
