import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createTerminalText } from "../../scripts/terminal-session/terminal-text.ts"
import { eventually } from "../support/eventually.ts"
import { ASKING, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

const until = (name: string): string => `until test -e ${name}; do sleep 0.02; done`

function open(environment: Record<string, string> = {}) {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment: { ...QUICK, ...environment } })
  return { directory, program, let: (name: string) => writeFileSync(join(directory, name), "") }
}

test("the agent reports the result of a task, marked with the task, and the end is announced in one line", async () => {
  const { program, let: go } = open()
  await program.shows(/you talk with/)
  program.type(`run \`${until("go")}; echo found it\``)
  await program.shows(/→ run_command moved to the background as \[[0-9a-f]{8}\] after/)
  program.type("say we talk on")
  await program.shows(/[\r\n]we talk on\r\n/)
  go("go")
  const ended = await program.shows(/\[[0-9a-f]{8}\] completed in .*\r\n/)
  await program.shows(new RegExp(`\\(about task ${ended.slice(1, 9)}: until[^\\n]*\\)`))
  await program.shows(/found it has completed: found it\r\n[\s\S]*context \d+ %/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  // In the line of the start, in that of the end, in the mark and twice in the report, but never alone below the end.
  expect(program.shown()).not.toMatch(/\r\n {2}found it\r\n/)
})

test("a line that is being typed stays as it is when a report comes", async () => {
  const { program, let: go } = open()
  await program.shows(/you talk with/)
  program.type(`run \`${until("go")}; seq 1 30\``)
  await program.shows(/moved to the background[\s\S]*context \d+ %/)
  program.press("/hel")
  await program.shows(/> \/hel/)
  go("go")
  await program.shows(/\(about task [\s\S]*30\r\n[\s\S]*context \d+ %[\s\S]*> \/hel/)
  const lines = await eventually("the line stands below all that was drawn", () => {
    const screen = createTerminalText(100)
    screen.write(program.raw())
    return screen.lines().at(-1) === "> /hel" && screen.lines()
  })
  expect(lines.slice(lines.indexOf("1"), lines.indexOf("30") + 1)).toEqual(
    Array.from({ length: 30 }, (_, index) => String(index + 1)),
  )
  program.press("p\r")
  await program.shows(/Commands:/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("three tasks that were started together are reported as one", async () => {
  const { program, let: go } = open()
  await program.shows(/you talk with/)
  program.type(`run \`echo one\`, \`echo two\` and \`${until("go")}; exit 3\` together as checks`)
  await program.shows(/• start_task/)
  await eventually("two have ended and the turn too", () =>
    [/(\] completed in [\s\S]*){2}/, /context \d+ %/].every((pattern) => pattern.test(program.shown())),
  )
  program.type("/groups")
  await program.shows(/(open|sealed) +2 of 3 ended {2}checks/)
  go("go")
  await program.shows(/\(about group checks: 3 tasks\)\r\n/)
  await program.shows(/3 tasks of the group "checks" have ended: 2 completed, 1 failed\./)
  program.type("/groups")
  await program.shows(/joined +3 of 3 ended, 1 not completed {2}checks/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(program.shown().match(/\(about /g)).toHaveLength(1)
})

test("if no report is made, the result of the task is shown to the person alone", async () => {
  const { program, let: go } = open({ MEANWHILE_REPORTS_MAX_CONSECUTIVE_WAKES: "0" })
  await program.shows(/you talk with/)
  program.type(`run \`${until("go")}; echo found it\``)
  await program.shows(/moved to the background[\s\S]*context \d+ %/)
  go("go")
  await program.shows(/\(no report .*the model hears of it with your next message\)/)
  await program.shows(/found it\r\n/)
  program.type("say thank you")
  await program.shows(/has completed: found it[\s\S]*thank you/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(program.shown()).not.toContain("(about ")
})

test("with reports off an end is announced with its result, and the model hears of it with the next message", async () => {
  const { program, let: go } = open({ MEANWHILE_REPORTS_ENABLED: "false" })
  await program.shows(/you talk with/)
  program.type(`run \`${until("go")}; echo found it\``)
  await program.shows(/moved to the background[\s\S]*context \d+ %/)
  go("go")
  await program.shows(/\[[0-9a-f]{8}\] completed in .*\r\n {2}found it\r\n/)
  program.type("say thank you")
  await program.shows(/has completed: found it[\s\S]*thank you/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("from a pipe, the program ends after the last report", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, environment: QUICK })
  program.type(`run \`${until("go")}; echo late\``)
  program.endInput()
  await program.shows(/Waiting for 1 task to end/)
  writeFileSync(join(directory, "go"), "")
  expect(await program.exited).toBe(0)
  await program.shows(
    /\] completed in [\s\S]*\(about task [0-9a-f]{8}: until .*; echo late\)\n.* has completed: late\n/,
  )
})

test("from a pipe, tasks that need a person are named and not waited for, and go on when they are answered", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: ASKING })
  first.type("start an agent to ask me which colour: red, green or blue")
  first.type("start an agent to write file notes.txt with buy milk")
  first.endInput()
  expect(await first.exited).toBe(0)
  const colour = /\[([0-9a-f]{8})\] The agent asks: which colour\n/.exec(first.shown())?.[1]
  const write = /\[([0-9a-f]{8})\] Allow writeNewFile\?/.exec(first.shown())?.[1]
  const second = startPiped({ directory, arguments: ["--resume"], environment: ASKING })
  await second.shows(/2 tasks wait for your answer: see \/inbox/)
  second.type(`/answer ${colour} 3`)
  await second.shows(/\(about task [\s\S]*has completed:[\s\S]*blue/)
  second.type(`/answer ${write} yes`)
  await second.shows(/\(about task [\s\S]*has completed:/)
  second.endInput()
  expect(await second.exited).toBe(0)
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("buy milk")
})

test("a task that ended while no program ran is reported when the conversation goes on", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: QUICK })
  first.type(`run \`${until("go")}; echo found it\``)
  await first.shows(/moved to the background[\s\S]*context \d+ %/)
  // A command is handled once the turn's end is kept.
  first.type("/tasks")
  await first.shows(/running/)
  first.kill("SIGKILL")
  await first.exited
  writeFileSync(join(directory, "go"), "")
  const second = startPiped({ directory, environment: QUICK, arguments: ["--resume"] })
  await second.shows(/\(about task [0-9a-f]{8}: until.*\)\n[\s\S]*has completed: found it\n/)
  second.endInput()
  expect(await second.exited).toBe(0)
  expect(second.shown().match(/\(about /g)).toHaveLength(1)
})
