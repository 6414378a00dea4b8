import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const CONTROL_B = "\x02"

function open(environment: Record<string, string> = {}) {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment })
  return { directory, program, let: (name: string) => writeFileSync(join(directory, name), "") }
}

test("/bg moves running calls to the background, and says if none can move", async () => {
  const { program, let: go } = open()
  await program.shows(/you talk with/)
  program.type("/bg")
  await program.shows(/Nothing runs that could move to the background\./)
  program.type("run `until test -e go; do sleep 0.02; done; echo found it`")
  await program.shows(/• run_command/)
  program.type("/bg")
  await program.shows(/→ run_command moved to the background as \[[0-9a-f]{8}\] after [\d.]+ m?s[\s\S]*context \d+ %/)
  program.type("count to 400 slowly")
  await program.shows(/1 2 /)
  program.type("/bg")
  await program.shows(/Nothing that runs now can move to the background\. Ctrl\+C stops the answer\./)
  program.press("\x03")
  await program.shows(/the turn was stopped/)
  go("go")
  await program.shows(/has completed: found it/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("Ctrl+B on an empty line does the same, also to the person's own command, and elsewhere moves the cursor", async () => {
  const { program, let: go } = open()
  await program.shows(/you talk with/)
  program.type("/run until test -e go; do sleep 0.02; done; echo found it")
  program.press("/hlp")
  await program.shows(/> \/hlp/)
  program.press(`${CONTROL_B}${CONTROL_B}e\r`)
  await program.shows(/Commands:/)
  expect(program.shown()).not.toContain("still runs after")
  program.press(CONTROL_B)
  await program.shows(/\[[0-9a-f]{8}\] still runs after .* goes on in the background/)
  go("go")
  await program.shows(/\] completed in .*\r\n {2}found it/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("a group is cancelled by its name, and a queued task shows its place in the queue", async () => {
  const { program } = open({ MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS: "1" })
  await program.shows(/you talk with/)
  program.type("run `sleep 1000` and `sleep 1001` together as naps")
  await program.shows(/(✓ start_task[\s\S]*){2}context \d+ %/)
  program.type("/tasks")
  await program.shows(/queued .*sleep 100\d · place 1 · group naps/)
  program.type("/cancel naps")
  await program.shows(/Group naps \[[0-9a-f]{8}\] is cancelled; stopping its tasks…/)
  await program.shows(/(\] cancelled after [\s\S]*){2}/)
  program.type("/cancel naps")
  await program.shows(/Group naps \[[0-9a-f]{8}\] is cancelled already\./)
  program.type("/cancel nobody")
  await program.shows(/There is no task and no group "nobody"\. \/tasks and \/groups list/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("an agent in the background shows its progress, hears messages, and can be resumed after its end", async () => {
  const { program, directory, let: go } = open()
  await program.shows(/you talk with/)
  program.type("start an agent to run `until test -e go; do sleep 0.02; done`")
  const id = (await program.shows(/started [0-9a-f]{8}: /)).slice(8, 16)
  await program.shows(/subagent │ • run_command/)
  await eventually("the call is among what it did", async () => {
    const { stdout } = await runToEnd({ directory, arguments: ["tasks", "show", id] })
    return /calls {5}1 call, the last: run_command\nspent {5}\d.* tokens\n/.test(stdout)
  })
  program.type(`/task ${id}`)
  await program.shows(/calls {5}1 call, the last: run_command\r\n/)
  program.type(`/tell ${id} say I was told`)
  await program.shows(new RegExp(`\\[${id}\\] hears it before its next step`))
  go("go")
  await program.shows(/subagent.* │ .*I was told/)
  await program.shows(new RegExp(`\\(about task ${id}: [\\s\\S]*context \\d+ %`))
  program.type(`/tell ${id} say I went on`)
  await program.shows(new RegExp(`\\[${id}\\] goes on with it as run 2`))
  await program.shows(/│ I went on/)
  await program.shows(new RegExp(`\\[${id}\\] completed in .*: subagent: say I went on`))
  await program.shows(new RegExp(`\\(about task ${id}: `))
  program.type("/tasks")
  await program.shows(new RegExp(`${id} +completed .*\\(resumed\\) subagent: say I went on`))
  program.type("/tell")
  await program.shows(/Say which agent and what: \/tell ID TEXT\./)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  const listed = await runToEnd({ directory, arguments: ["tasks"] })
  expect(listed.stdout).toMatch(new RegExp(`${id} +completed .*\\(resumed\\) subagent: say I went on`))
})

test("a question of an agent in the background waits in the inbox with its options, and a number answers it", async () => {
  const { program } = open()
  await program.shows(/you talk with/)
  program.type("start an agent to ask me which colour: red, green or blue")
  const id = (await program.shows(/\[[0-9a-f]{8}\] The agent asks: which colour\r\n[^]*? {2}1\) red/)).slice(1, 9)
  program.type("say we talk on")
  await program.shows(/[\r\n]we talk on\r\n/)
  program.type("/inbox")
  await program.shows(
    /2\) green\r\n[\s\S]*Answer: \/answer [0-9a-f]{8} NUMBER\|TEXT\r\n {2}expires in (?:24 h 0|23 h 59) min; then /,
  )
  program.type(`/answer ${id} 7`)
  await program.shows(/Answer with a number from 1 to 3, or your own words/)
  program.type(`/answer ${id} 2`)
  await program.shows(new RegExp(`\\[${id}\\] is answered and completed`))
  await program.shows(/\(about task [\s\S]*green[\s\S]*context \d+ %/)
  program.type("/inbox")
  await program.shows(/Nothing waits for your answer\./)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(program.shown().match(/which colour\r\n(?: {2}\D.*\r\n)? {2}1\) red/g)).toHaveLength(2)
})
