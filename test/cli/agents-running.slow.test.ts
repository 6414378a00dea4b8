import { expect, test } from "vitest"
import { startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("/agents tells what runs: what each agent of the chat does, and the agents that work as tasks", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory })
  await program.shows(/you talk with/)
  program.type("start an agent to run `sleep 600`")
  const id = (await program.shows(/started [0-9a-f]{8}: /)).slice(8, 16)
  await program.shows(/subagent: working… [^\n]*\n {2}└ run_command sleep 600/)
  program.type("/agents")
  await program.shows(/ subagent +active +offline\/rules [^\r\n]* run_command sleep 600 /)
  await program.shows(
    new RegExp(`Agents that work as tasks:\\r\\n${id} {2}running +[^\\r\\n]* subagent: run \`sleep 600\``),
  )
  program.type(`/cancel ${id}`)
  await program.shows(new RegExp(`\\[${id}\\] cancelled`))
  program.type("/agents")
  expect(await program.shows(/main[^\r\n]*\r\n[\s\S]*subagent +[^\r\n]*\r\n/)).not.toContain(
    "Agents that work as tasks",
  )
  program.type("/quit")
  expect(await program.exited).toBe(0)
})
