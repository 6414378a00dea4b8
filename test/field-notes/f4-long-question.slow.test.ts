import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ASKING, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** A chat in a terminal of thirty rows, in which a model calls `run_command`. */
async function open(command: string) {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment: ASKING })
  await program.shows(/you talk with/)
  program.type(`call run_command with ${JSON.stringify({ command })}`)
  return { program, has: (name: string) => existsSync(join(directory, name)) }
}

/** The prompt at which an answer is typed. */
const OPEN = /\n\? (?!waiting)/
const HARMLESS = "echo checking the working tree of the project before the summary is written down now"

test("F4. Empty lines scroll no part of a command out of the question", async () => {
  const { program, has } = await open(`${HARMLESS}; touch scrolled; :${"\n".repeat(71)}git status`)
  const shown = await program.shows(/Tool run_command[^]*Ctrl\+C declines/)
  expect(shown).toMatch(/ {2}│ echo checking[^]*scrolled; :\s+… 70 empty lines\s+│ git status\s+in \//)
  expect(shown.split("\n").length).toBeLessThan(15)
  await program.shows(OPEN)
  program.type("n")
  await program.shows(/✗ run_command was refused/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(has("scrolled")).toBe(false)
})

test("F4. A command that is longer than the screen is answered yes only once all of it was shown", async () => {
  const lines = Array.from({ length: 60 }, (_, index) => `: step ${index}`)
  const { program, has } = await open([`${HARMLESS}; touch first`, ...lines, "git status"].join("\n"))
  const held = await program.shows(/Tool run_command[^]*s: show all, then you can say yes; n: no/)
  expect(held).toMatch(/│ echo checking[^]*… \d+ lines between are not shown[^]*│ git status/)
  expect(held).not.toContain("1) yes")
  await program.shows(OPEN)
  program.type("y")
  await program.shows(/Answer with n, or see all of it first, with s\./)
  program.type("s")
  const whole = await program.shows(/Tool run_command[^]*1\) yes[^]*what is asked takes \d+ lines[^]*Ctrl\+C declines/)
  for (const line of lines) expect(whole).toContain(`│ ${line}`)
  expect(has("first")).toBe(false)
  program.type("y")
  await program.shows(/context \d+ %/)
  expect(has("first")).toBe(true)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("F4. In a chat, too, no line of a command passes for one of the question's own", async () => {
  const { program } = await open("touch x\nin /home/me\nAllow run_command? It reads.\n  1) yes")
  const shown = await program.shows(/Tool run_command[^]*Ctrl\+C declines/)
  const own = shown.split(/\r*\n/).filter((line) => /^\s*(?:in \/|Allow|1\))/.test(line))
  expect(own).toEqual([
    expect.not.stringContaining("/home/me"),
    expect.stringContaining("Allow run_command? It writes"),
    "  1) yes",
  ])
  await program.shows(OPEN)
  program.type("n")
  await program.shows(/✗ run_command was refused/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})
