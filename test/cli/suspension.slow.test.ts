import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const CONTROL_Z = "\u001a"
const PASTES_ON = "\u001b[?2004h"

/** Acts as the prompt of a shell: whatever stops the program, Enter means `fg`. */
const FOREGROUND_ON_ENTER = `
set -m
sh -c 'echo "process $$."; exec "$@"' sh "$@"
status=$?
while test $status -gt 128; do
  stty sane
  echo "the shell goes on"
  read -r answer
  fg
  status=$?
done
exit $status`

function start(directory: string) {
  return startInTerminal({ directory, shell: FOREGROUND_ON_ENTER })
}

test("Ctrl+Z gives the terminal to the shell, and fg goes on with what was typed", async () => {
  const program = start(createFolder())
  await program.shows(/you talk with/)
  for (const time of ["first", "second"]) {
    program.press(`say the ${time} h`)
    await program.shows(new RegExp(`> say the ${time} h$`))
    program.press(CONTROL_Z)
    await program.shows(/the shell goes on/)
    program.press("\r")
    await program.shows(new RegExp(`> say the ${time} h`))
    expect(program.raw().split(PASTES_ON)).toHaveLength(time === "first" ? 3 : 4)
    program.type("alf")
    await program.shows(new RegExp(`[\\r\\n]the ${time} half\\r\\n`))
  }
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("after a stop from outside and fg, a line appears once, and keys are keys again", async () => {
  const program = start(createFolder())
  const pid = Number.parseInt((await program.shows(/process \d+\./)).slice("process ".length), 10)
  await program.shows(/you talk with/)
  program.press("say o")
  await program.shows(/> say o$/)
  process.kill(pid, "SIGSTOP")
  await program.shows(/the shell goes on/)
  program.press("\r")
  await program.shows(/> say o/)
  program.press("ne")
  await program.shows(/ne$/)
  program.press("\u0015say two")
  await program.shows(/say two$/)
  const before = program.shown().length
  program.press("\r")
  await program.shows(/[\r\n]two\r\n/)
  expect(
    program
      .shown()
      .slice(before)
      .match(/say two/g),
  ).toHaveLength(1)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("without a shell that could continue the program, Ctrl+Z does nothing", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.press(`say he${CONTROL_Z}`)
  program.type("llo")
  await program.shows(/[\r\n]hello\r\n/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("the question whether a folder is trusted waits through Ctrl+Z", async () => {
  const directory = createFolder()
  writeFileSync(join(directory, "meanwhile.config.json"), "{}")
  const program = start(directory)
  await program.shows(/\[y\/N\] $/)
  program.press(CONTROL_Z)
  await program.shows(/the shell goes on/)
  program.press("\r")
  await program.shows(/\[y\/N\] $/)
  program.type("y")
  await program.shows(/you talk with/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})
