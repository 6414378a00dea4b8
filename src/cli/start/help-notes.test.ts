import { Command } from "commander"
import { expect, test } from "vitest"
import { addHelpNotes } from "./help-notes.ts"
import * as migrate from "../migrate-command.ts"
import * as run from "../headless/run-command.ts"
import * as tasks from "../headless/tasks-command.ts"
import * as worker from "../headless/worker-command.ts"

function helpOf(command: Command): string {
  let help = ""
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  return help
}

test("what stands below the options is broken between words, to 80 columns where no terminal has told its own", () => {
  const help = helpOf(addHelpNotes(new Command("nap"), `\n${"word ".repeat(30)}\n  nap --deep`))
  expect(help).toContain(`\n${"word ".repeat(16).trimEnd()}\n${"word ".repeat(14).trimEnd()}\n  nap --deep\n`)
})

test.each([migrate, run, tasks, worker])(
  "the help of a command has no line above 80 columns (%#)",
  ({ createCommand }) => {
    expect(
      Math.max(
        ...helpOf(createCommand())
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80)
  },
)
