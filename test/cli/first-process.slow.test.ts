import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import { startCommand, UNTIL_TOLD } from "../support/cli/leaving-chat.ts"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** Processes of the test's own need no rights where the machine lets a user have namespaces. */
const ALONE = ["-fpr", "--mount-proc"]
const canBeFirst = spawnSync("unshare", [...ALONE, "true"]).status === 0

test.skipIf(!canBeFirst)(
  "a program that is process 1 stops its commands, hands back its agents, and says so",
  async () => {
    const directory = createFolder()
    const chat = startInTerminal({ directory, shell: `unshare ${ALONE.join(" ")} "$@"` })
    await chat.shows(/you talk with/)
    const command = await startCommand(chat, UNTIL_TOLD)
    chat.type("start an agent to count to 12 slowly")
    const [, agent = ""] = /started ([0-9a-f]{8})/.exec(await chat.shows(/started [0-9a-f]{8}/)) ?? []
    await chat.shows(/context \d+ %/)
    chat.type("/quit")
    await chat.shows(/process 1 here: its commands end with it\. Agents and answers go on at the next\s+start\./)
    expect(await chat.exited).toBe(0)
    const readTasks = async () => (await runToEnd({ directory, arguments: ["tasks"] })).stdout
    const left = await readTasks()
    expect(left).toMatch(new RegExp(`^${command} +cancelled`, "m"))
    expect(left).toMatch(new RegExp(`^${agent} +queued`, "m"))
    const next = startPiped({ directory })
    await eventually("the agent goes on", async () => new RegExp(`^${agent} +completed`, "m").test(await readTasks()))
    next.endInput()
    expect(await next.exited).toBe(0)
  },
)
