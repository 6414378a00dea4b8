import { describe, expect, test } from "vitest"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { call } from "../support/background/open-background.ts"
import {
  about,
  behindGate,
  launch,
  type OpenDelegation,
  openDelegation,
} from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenDelegation

describe("Cancel running tasks", () => {
  test("002-08: a cancelled task ends as cancelled, and its agent's turn is stopped", async () => {
    const { gate, step } = behindGate("late")
    const cancel = about(() => agent, "background_cancel", 1)
    agent = await openDelegation([launch("Count."), "It works.", cancel, "Stopped."], [step])
    await agent.session.send("count")
    await gate.reached
    await agent.session.send("stop it")
    expect(agent.answers().at(-1)).toMatchObject({
      cancelled: 1,
      tasks: [{ status: "cancelled", cancelled_by: "model", survivors: [] }],
    })
    expect((await agent.task(1)).status).toBe("cancelled")
    await eventually("the turn of the agent is stopped", () =>
      agent.events.some(
        (event) =>
          event.agent !== agent.session.id && event.type === "turn.completed" && event.accounting.outcome === "stopped",
      ),
    )
  })

  test("a cancelled task is not told of a second time", async () => {
    const { gate, step } = behindGate("late")
    const cancel = about(() => agent, "background_cancel", 1)
    agent = await openDelegation([launch("Count."), "It works.", cancel, "Stopped.", "Yes?"], [step])
    await agent.session.send("count")
    await gate.reached
    await agent.session.send("stop it")
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toBe("hello")
  })

  test("cancelling needs exactly one of its arguments: none and two are refused", async () => {
    const both = call("background_cancel", { all: true, batch: "x" })
    agent = await openDelegation([call("background_cancel"), both, "Oh."], [])
    await agent.session.send("stop")
    for (const told of agent.answers()) expect(JSON.stringify(told)).toContain("exactly one of task_id, batch and all")
  })
})
