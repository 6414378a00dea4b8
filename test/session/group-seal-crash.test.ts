import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createGroupId, createTaskId, DEFAULT_WORKSPACE, type SessionId } from "../../src/task/id.ts"
import { LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { spawns } from "../support/session/group-agent.ts"
import { beginLife, type LivingRuntime } from "../support/session/lives.ts"

const SESSION = "11111111-1111-4111-8111-111111111111" as SessionId
const TURNS = { kinds: ["turn"], statuses: LIVE_STATUSES } as const

const plugins = [createBackgroundPlugin({ vocabulary: "penguiflow" })]
const createTools = () => [createGatedTool({ background: { mode: "always" } }).tool]
const isAnswered = (operations: readonly Operation[]): boolean =>
  operations.some(({ op }) => op === "session.update") && operations.some(({ op }) => op === "step.finish")

async function stateOfGroup({ store }: LivingRuntime): Promise<string | undefined> {
  const [group] = await store.groups({ session: SESSION }, 1)
  return group?.state
}

test("groups that a turn opened before a crash are sealed when the turn that goes on ends, without another call", async () => {
  const folder = createFolder()
  const script = [spawns(["north", "south"], { group: "walls" }), () => new Promise<never>(() => {})]
  const ending = { when: "after", isHere: isAnswered } as const
  const first = await beginLife(folder, 1, { script, tools: createTools(), plugins, ending })
  const begun = await first.runtime.createSession({ id: SESSION })
  void begun.send("build the walls").catch(() => {})
  await first.life.over
  expect(await stateOfGroup(first)).toBe("open")
  const next = await beginLife(folder, 2, { script: ["They run.", "So be it."], tools: createTools(), plugins })
  await eventually("the turn ends", async () => (await next.store.countTasks(TURNS)) === 0)
  await (await next.runtime.openSession(SESSION)).send("and now?")
  expect(await stateOfGroup(next)).toBe("joined")
})

test("groups of a turn that ended where nobody had its session open are sealed when it is opened", async () => {
  const life = await beginLife(createFolder(), 1, { script: [], tools: [], plugins })
  const own = { workspace: DEFAULT_WORKSPACE, session: SESSION }
  const rules = { name: "walls", join: "all", failFast: false, report: "combined", merge: "append" } as const
  await life.store.commit([
    { op: "session.create", id: SESSION, workspace: DEFAULT_WORKSPACE, data: { turn: createTaskId() } },
    { op: "group.create", details: { ...own, ...rules, id: createGroupId() } },
  ])
  await life.runtime.openSession(SESSION)
  expect(await stateOfGroup(life)).not.toBe("open")
})
