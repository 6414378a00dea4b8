import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import type { SessionId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { spawns } from "../support/session/group-agent.ts"
import { beginLife } from "../support/session/lives.ts"

const SESSION = "11111111-1111-4111-8111-111111111111" as SessionId

const plugins = [createBackgroundPlugin({ vocabulary: "penguiflow" }), createSubagentPlugin({ directories: [] })]
const createTools = () => [createGatedTool({ background: { mode: "always" } }).tool]
const isAnswered = (operations: readonly Operation[]): boolean =>
  operations.some(({ op }) => op === "session.update") && operations.some(({ op }) => op === "step.finish")

test("C10: a subagent whose turn goes on after a crash is woken by the group that it started before", async () => {
  const folder = createFolder()
  const never: ScriptStep = () => new Promise<never>(() => {})
  const script = ["Hello.", spawns(["north", "south"], { group: "walls" }), never]
  const ending = { when: "after", isHere: isAnswered } as const
  const first = await beginLife(folder, 1, { script, tools: createTools(), plugins, ending })
  await (await first.runtime.createSession({ id: SESSION })).send("hello")
  const input = { task: "Build the walls." }
  const { id } = await first.runtime.tasks.start({ tool: "spawn_subagent", input, session: SESSION })
  await first.life.over
  const gate = createGate()
  const left = [() => ({ gate: gate.pass(), text: "They run." }), "The walls fell."]
  const next = await beginLife(folder, 2, { script: left, tools: createTools(), plugins })
  await gate.reached
  // Delays the seal, so that the agent looks before it.
  interceptCommits({ engine: next }, async (operations, commit) => {
    const isSeal = operations.some(({ op }) => op === "group.move")
    for (let round = 0; isSeal && round < 50; round++) await new Promise((resolve) => setImmediate(resolve))
    return commit(operations)
  })
  gate.open()
  await eventually("the agent ends", async () => {
    next.clock.advance(10)
    return isTerminal((await next.runtime.tasks.get(id)).task.status)
  })
  expect((await next.runtime.tasks.get(id)).task).toMatchObject({ patch: { payload: { answer: "The walls fell." } } })
})
