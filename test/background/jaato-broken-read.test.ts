import { expect, test } from "vitest"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { call, callWithTask, createGatedCommand, openBackground } from "../support/background/open-background.ts"

const BUILD = { plugin_name: "cli", tool_name: "runCommand", arguments: { name: "npm ci" } }

test("a result whose reading fails halfway does not count as used, and is told by itself", async () => {
  const gated = createGatedCommand()
  const agent = await openBackground(
    [call("startBackgroundTask", BUILD), callWithTask("getBackgroundTaskResult", { wait: true }), "Hm.", "I see."],
    { shell: [gated.tool] },
  )
  let isBroken = false
  interceptCommits(agent.runtime, async (operations, commit) => {
    const answers = await commit(operations)
    if (isBroken || !operations.some(({ op }) => op === "notice.claim")) return answers
    isBroken = true
    throw new Error("the disk is gone")
  })
  const turn = agent.session.send("install")
  const running = await gated.call(1)
  // The task must not end before this: its result would be told with the answer of the call that started it.
  await eventually("the result is asked for", () => agent.model.callCount === 2)
  running.finish("installed")
  await turn
  expect(isBroken).toBe(true)
  expect(lastSaid(agent.model, -1)).not.toContain("installed")
  await agent.session.send("and?")
  expect(lastSaid(agent.model, -1)).toContain("| installed")
})
