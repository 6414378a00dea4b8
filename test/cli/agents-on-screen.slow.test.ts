import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const F2 = "\x1bOQ"
const OTHER_F2 = "\x1b[12~"
/** Keeps the commands of subagents in the foreground, however long the test takes. */
const PATIENT = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "120" }
const FRAME = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

function open() {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment: PATIENT })
  return { program, allow: (name: string) => writeFileSync(join(directory, name), "") }
}

const waitFor = (file: string): string => `until test -e ${file}; do sleep 0.02; done`

/** The frames of an agent's spinner in the shown text. */
function framesOf(shown: string, agent: string): Set<string> {
  const lines = shown.matchAll(new RegExp(`(${FRAME.source}) (?:▸ )?${agent}(?:working|thinking)…`, "gu"))
  return new Set([...lines].map(([, frame]) => frame ?? ""))
}

test("004-68: below the spinner of each agent stand the calls it waits for, and one that ended stands there no more", async () => {
  const { program, allow } = open()
  await program.shows(/you talk with/)
  program.type(`ask a subagent to ask a subagent to run \`${waitFor("go")}\` and \`${waitFor("end")}\``)
  await program.shows(
    /. working… [^\n]*\n {2}└ spawn_subagent [^\n]*\n. subagent: working… [^\n]*\n {2}└ spawn_subagent [^\n]*\n. subagent 2: working… [^\n]*\n {2}├ run_command until test -e go;[^\n]*\n {2}└ run_command until test -e end;/,
  )
  allow("go")
  await program.shows(/. subagent 2: working… [^\n]*\n {2}└ run_command until test -e end;[^\n]*\n> /)
  allow("end")
  await program.shows(/offline\/rules · /)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("004-70: the spinners of all agents advance whichever is selected, and F2 shows what another has said", async () => {
  const { program, allow } = open()
  await program.shows(/you talk with/)
  program.type(`ask a subagent to run \`echo of the first; ${waitFor("first")}\``)
  await program.shows(/subagent │ {3}│ of the first\r\n/)
  program.type(`ask a subagent to run \`echo of the second; ${waitFor("second")}; echo more of the second\``)
  await program.shows(/subagent 2 │ {3}│ of the second\r\n/)

  program.press(F2)
  await program.shows(/── main · \w+ · offline\/rules ──\r\n[\s\S]*• spawn_subagent/)
  program.press(F2)
  await program.shows(
    /── subagent 2 · active · offline\/rules ──\r\nsubagent 2 │ • run_command [\s\S]*?│ {3}│ of the second\r\n/,
  )
  program.press(OTHER_F2)
  const replayed = await program.shows(/── subagent · active · offline\/rules ──[\s\S]*? of the first\r\n/)
  expect(replayed).not.toContain("second")
  await program.shows(/▸ subagent alone \(active\)/)

  const since = program.shown().length
  await eventually("both spinners advance", () => {
    const shown = program.shown().slice(since)
    return framesOf(shown, "subagent: ").size > 5 && framesOf(shown, "subagent 2: ").size > 5
  })
  const shown = program.shown().slice(since)
  expect(shown).toMatch(/. ▸ subagent: working… [^\n]*\n {2}└ run_command echo of the first;/)
  expect(shown).toMatch(/. subagent 2: working… [^\n]*\n {2}└ run_command echo of the second;/)

  allow("second")
  await program.shows(/▸ subagent: working… [^\n]*\n {2}└ run_command echo of the first;[^\n]*\n> /)
  expect(program.shown().slice(since)).not.toContain("subagent 2 │")
  program.type("/agents")
  await program.shows(
    / {2}1 {2}main +\w+ +offline\/rules {2}[\d.]+k? \+ \d+ tokens\r\n {3}\d {2}subagent 2 +done +offline\/rules[^\n]*\n▸ {2}2 {2}subagent +active /,
  )
  program.type("/agents Subagent 2")
  await program.shows(/── subagent 2 · done · offline\/rules ──\r\n[\s\S]*subagent 2 │ {3}│ more of the second\r\n/)
  program.type("/agents all")
  await program.shows(/── all agents ──\r\n/)
  allow("first")
  await program.shows(/subagent │ ✓ run_command/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("while a subagent is shown alone, the main agent hears messages, and its questions are still asked", async () => {
  const { program } = open()
  await program.shows(/you talk with/)
  program.type("ask a subagent to run `echo below`")
  await program.shows(/offline\/rules · /)
  program.type("/agents 2")
  await program.shows(/── subagent · done · offline\/rules ──\r\n[\s\S]*subagent │ {3}│ below\r\n/)
  program.type("ask me which colour: red or blue")
  await program.shows(/\(the main agent hears it; \/agents main shows its answer\)\r\n/)
  const asked = await program.shows(/which colour[\s\S]*\? $/)
  expect(asked).not.toContain("• request_clarification")
  program.type("1")
  program.type("/agents main")
  await program.shows(/── main · \w+ · offline\/rules ──\r\n[\s\S]*• request_clarification/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})
