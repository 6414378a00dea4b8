import { expect, test } from "vitest"
import { runToEnd } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** Runs a prompt that starts an agent, to the agent's end. */
async function runAgent(directory: string, task: string): Promise<string> {
  const { stderr } = await runToEnd({ directory, arguments: ["run", `start an agent to ${task}`] })
  const [, id = ""] = /\[([0-9a-f]{8})\] completed/.exec(stderr) ?? []
  return id
}

const tasks = (directory: string, ...words: readonly string[]) =>
  runToEnd({ directory, arguments: ["tasks", ...words] })

test("an agent that has ended is shown with its answer, line by line", async () => {
  const directory = createFolder()
  const id = await runAgent(directory, "run `echo first; echo second`")
  const { stdout } = await tasks(directory, "show", id)
  expect(stdout).toMatch(/\nanswer {4}`echo first; echo second` returned:\n\n {10}first\n {10}second\n$/)
})

test("an agent's answer to a follow-up from the shell is printed, under the title of the follow-up", async () => {
  const directory = createFolder()
  const id = await runAgent(directory, "run `echo first`")
  const told = await tasks(directory, "tell", id, "say", "I went on")
  const end = `\\[${id}\\] completed in .*: subagent: say I went on`
  expect(told.stdout).toMatch(new RegExp(`^\\[${id}\\] goes on .*\\n${end}\\nI went on\\n$`))
  expect((await tasks(directory)).stdout).toMatch(/completed .*\(resumed\) subagent: say I went on/)
})

test("an answer from the shell says when the agent that asked goes on", async () => {
  const directory = createFolder()
  await runToEnd({ directory, arguments: ["run", "start an agent to ask me which colour: red, green or blue"] })
  const [, question = ""] =
    /\[([0-9a-f]{8})\] The agent asks: which colour/.exec((await tasks(directory, "inbox")).stdout) ?? []
  const [agent] = /^[0-9a-f]{8}(?=.* subagent: ask me which colour)/m.exec((await tasks(directory)).stdout) ?? []
  const { stdout } = await tasks(directory, "answer", question, "2")
  expect(stdout).toMatch(
    new RegExp(
      `^\\[${question}\\] completed .*\\nits agent ${agent} goes on at the next start of a chat or a worker$`,
      "m",
    ),
  )
})
