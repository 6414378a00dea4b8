import { join } from "node:path"
import { expect, test } from "vitest"
import type { SessionId } from "../../src/task/id.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

test("D2. Completion is tied to the turn that was asked for, also when the agent's run is taken up long after it", async () => {
  const dataDirectory = join(createFolder(), "data")
  const background = { maxConcurrentTasks: 1 }
  const gate = createGate()
  const first = await openSubagents({
    dataDirectory,
    background,
    main: ["Hello."],
    below: [() => ({ gate: gate.pass(), text: "never said" })],
    tools: [createGatedTool().tool],
  })
  await first.session.send("Hello.")
  const children: SessionId[] = []
  first.runtime.on((event) => event.type === "agent.created" && children.push(event.agent))
  const agent = await startAgent(first)
  await gate.reached
  const before = await first.runtime.tasks.start({ tool: "gated", input: {}, priority: 10 })
  await first.runtime.close()

  const gated = createGatedTool()
  const below = ["What was asked for.", "Small talk."]
  const second = await openSubagents({ dataDirectory, background, main: [], below, tools: [gated.tool] })
  const { tasks } = second.runtime
  const call = await gated.call(1)
  const [child] = children
  const talk = child && (await second.runtime.openSession(child))
  expect(await talk?.send("How are you?")).toMatchObject({ text: "Small talk." })
  expect((await tasks.get(agent.id)).task.status).toBe("queued")
  call.finish()
  await endOf(second, before)
  expect(await endOf(second, agent)).toMatchObject({ patch: { payload: { answer: "What was asked for." } } })
})
