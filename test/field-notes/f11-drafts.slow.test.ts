import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ASKING, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** A chat that asks a question after two seconds, in which somebody can type. */
async function open() {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment: ASKING })
  await program.shows(/you talk with/)
  program.type("run `sleep 2`, then write file made.txt with x")
  await program.shows(/• run_command sleep 2/)
  return { program, hasWritten: () => existsSync(join(directory, "made.txt")) }
}

test("F11. A person's half-typed draft is not taken as the answer to a question that appeared meanwhile", async () => {
  const { program, hasWritten } = await open()
  program.press("y")
  await program.shows(/> y/)
  await program.shows(/kept: it comes back[^]*Allow writeNewFile\?[^]*Ctrl\+C declines/)
  await program.asks(/> /)
  program.type("n")
  await program.shows(/✗ writeNewFile was refused[^]*> y/)
  program.press("ou hear me\r")
  await program.shows(/> you hear me[^]*context \d+ %/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(hasWritten()).toBe(false)
})

test("F11. Keys of the moment in which a question appears answer it neither: they are kept, too", async () => {
  const { program, hasWritten } = await open()
  program.press("y")
  await program.shows(/Ctrl\+C declines/)
  for (const keys of ["\r", "yes", "\r", "1"]) program.press(keys)
  await program.asks(/> 1/)
  expect(hasWritten()).toBe(false)
  program.type("n")
  await program.shows(/✗ writeNewFile was refused[^]*… 1/)
  program.press("\x03")
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(hasWritten()).toBe(false)
})

test("F11. The rest of a paste that began before a question is no answer to it, however late it comes", async () => {
  const { program, hasWritten } = await open()
  program.press("\x1b[200~some notes\n")
  await program.shows(/Ctrl\+C declines/)
  // The activity is drawn every 120 ms: a question would have opened by now.
  for (let drawn = 0; drawn < 20; drawn++) await program.shows(/\? waiting for you/)
  program.press("y\nmore\x1b[201~")
  await program.shows(/\n\? (?!waiting)/)
  expect(hasWritten()).toBe(false)
  program.type("n")
  await program.shows(/✗ writeNewFile was refused/)
  program.press("\r")
  await program.shows(/context \d+ %/)
  expect(program.shown()).toMatch(/some notes[^]*y[^]*more/)
  program.press("\x03")
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(hasWritten()).toBe(false)
})
