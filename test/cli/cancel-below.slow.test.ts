import { expect, test } from "vitest"
import { processesOf } from "../support/processes.ts"
import { runToEnd } from "../support/program.ts"
import { startTreeWorker } from "../support/trees/start-tree-worker.ts"
import { readTree } from "../support/trees/tree-plan.ts"
import { createFolder } from "../support/workplace.ts"

const PLAIN = { livesForever: false, isMember: false, children: [] }
const COMMAND = { ...PLAIN, name: "command", kind: "command", rests: false }

test.each([
  ["rests", true],
  ["works", false],
])(
  "cancelling a killed worker's agent that %s ends the command below it before it is called cancelled",
  async (_, rests) => {
    const directory = createFolder()
    const agent = { ...PLAIN, name: "agent", kind: "agent", rests, children: [COMMAND] }
    const root = { ...PLAIN, name: "root", kind: "agent", rests: true, children: [agent] }
    const { tasks, kill } = await startTreeWorker(directory, readTree(JSON.stringify(root)))
    const [agentId, commandId] = [tasks["agent"] ?? "", tasks["command"] ?? ""]
    await kill()
    expect(processesOf(commandId)).not.toEqual([])

    const inShell = (...words: readonly string[]) =>
      runToEnd({ directory, arguments: ["--data-dir", "data", "tasks", ...words] })
    const { stdout, exitCode } = await inShell("cancel", agentId)
    expect(processesOf(commandId)).toEqual([])
    expect(stdout).toMatch(/stopping…\n\[[0-9a-f]{8}\] cancelled after/)
    expect(exitCode).toBe(0)
    expect((await inShell("show", commandId)).stdout).toMatch(/status {4}cancelled/)
  },
)
