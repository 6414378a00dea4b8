import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { GIT_EFFECTS } from "../../src/builtin/shell/command-effects.ts"
import { programsWith } from "../../src/builtin/shell/known-programs.ts"
import { READING_SUBCOMMANDS } from "../../src/builtin/shell/reading-git.ts"
import { EFFECTS } from "../../src/plugin/effect.ts"

const guide = readFileSync(fileURLToPath(new URL("../../docs/guide/plugins/permission.md", import.meta.url)), "utf8")

test("the guide lists what programs do exactly as the table has it", () => {
  const rows = (["none", ...EFFECTS] as const).flatMap((effect) => {
    const programs = programsWith(effect)
    const git = effect === "none" ? READING_SUBCOMMANDS : (GIT_EFFECTS[effect]?.split(" ") ?? [])
    if (programs.length + git.length === 0) return []
    return [`| ${effect} | ${toCode(programs)} | ${toCode(git)} |`]
  })
  const table = ["| effect | programs | subcommands of git |", "|---|---|---|", ...rows].join("\n")
  const shown = guide.split("<!-- effects of programs -->")[1]?.split("<!-- end of effects of programs -->")[0]
  expect(shown?.trim()).toBe(table)
})

test("the guide names every effect", () => {
  expect(EFFECTS.filter((effect) => !guide.includes(`| \`${effect}\` |`))).toEqual([])
})

function toCode(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(" ") || "–"
}
