import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createRunner, type Runner } from "../../src/runner/runner.ts"
import type { GroupRequest } from "../../src/plugin/group-service.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { openLifeEngine } from "../support/chaos/life-engine.ts"
import {
  type CrashPoint,
  createLife,
  createMortalEngine,
  describeCrash,
  type Life,
} from "../support/chaos/mortal-engine.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"

const ending = defineTool({
  name: "ending",
  description: "Ends as it is told.",
  input: z.object({ how: z.enum(["well", "badly", "never"]) }),
  background: { mode: "always" },
  onCrash: "retry",
  run: ({ how }, { signal }) =>
    new Promise((resolve, reject) => {
      if (how === "well") resolve("fine")
      else if (how === "badly") reject(new Error("broken"))
      else signal.addEventListener("abort", () => reject(new Error("stopped")))
    }),
})

/** Runs one life of a process after another, on the same store. */
function createLives() {
  const directory = createFolder()
  let newest = 0
  return async (crash?: CrashPoint) => {
    newest += 1
    const life = createLife(newest, crash)
    const clock = createManualClock(1_700_000_000_000 + newest * 60_000)
    const engine = await openLifeEngine(directory, newest, clock, () => newest)
    onTestFinished(() => engine.close())
    const registry = createRegistry()
    await registry.register(definePlugin({ kind: "tool", name: "test", tools: [ending] }))
    const opening = createRunner({
      engine: createMortalEngine(engine, life),
      registry,
      spoolDirectory: join(directory, "spool"),
      background: { leaseSeconds: 3, stopGraceSeconds: 0.1 },
      clock,
    })
    return { life, clock, store: engine.store, opening }
  }
}

interface Story {
  readonly request: GroupRequest
  readonly members: readonly ("well" | "badly" | "never")[]
}

async function tell(runner: Runner, { request, members }: Story): Promise<void> {
  const { id } = await runner.groups.open(request)
  for (const how of members) await runner.start({ tool: "ending", input: { how }, group: id })
  await runner.groups.seal(id)
}

/** Plays the story up to the crash. What comes after the crash has no effect. */
async function live(opening: Promise<Runner>, life: Life, story: Story, isOver: () => Promise<boolean>): Promise<void> {
  const told = opening.then((runner) => tell(runner, story))
  await Promise.race([life.over, told])
  if (!life.isOver) await eventually("the story is over", async () => life.isOver || (await isOver()))
  life.end()
}

async function findGroup(store: TaskStore) {
  const [group] = await store.groups({}, 1)
  return group
}

const GATED: Story = { request: { name: "answers", merge: "human_gated" }, members: ["well", "well"] }
const FAILING: Story = { request: { name: "checks", failFast: true }, members: ["never", "badly", "never"] }

async function countGates(store: TaskStore): Promise<number> {
  return store.countTasks({ tool: "apply_results" })
}

/** Counts the commits of a life in which nothing goes wrong. */
async function countCommits(story: Story, isOver: (store: TaskStore) => Promise<boolean>): Promise<number> {
  const begin = createLives()
  const { life, store, opening } = await begin()
  await live(opening, life, story, () => isOver(store))
  return life.commits
}

const isAsked = async (store: TaskStore) => (await countGates(store)) > 0

async function isJoined(store: TaskStore): Promise<boolean> {
  return (await findGroup(store))?.state === "joined"
}

test("a crash at any commit of a gated group leaves one question for the next process", async () => {
  const commits = await countCommits(GATED, isAsked)
  expect(commits).toBeGreaterThan(6)
  for (let number = 1; number <= commits; number += 1) {
    for (const when of ["before", "after"] as const) {
      const crash = { at: "commit", number, when } as const
      const begin = createLives()
      const first = await begin(crash)
      await live(first.opening, first.life, GATED, () => isAsked(first.store))
      const next = await begin()
      const runner = await next.opening
      const group = await findGroup(next.store)
      if (!group) continue
      if (group.state === "open") await runner.groups.seal(group.id)
      await eventually(`${describeCrash(crash)}: the group is joined`, async () => {
        next.clock.advance(500)
        return isJoined(next.store)
      })
      if (((await findGroup(next.store))?.memberCount ?? 0) > 0) {
        await eventually(`${describeCrash(crash)}: a person is asked`, () => isAsked(next.store))
      }
      next.clock.advance(20_000)
      expect(await countGates(next.store)).toBeLessThanOrEqual(1)
      await runner.close()
    }
  }
})

test("a crash at any commit of a group that fails fast leaves no member running", async () => {
  const commits = await countCommits(FAILING, isJoined)
  for (let number = 1; number <= commits; number += 1) {
    for (const when of ["before", "after"] as const) {
      const crash = { at: "commit", number, when } as const
      const begin = createLives()
      const first = await begin(crash)
      await live(first.opening, first.life, FAILING, () => isJoined(first.store))
      const next = await begin()
      const runner = await next.opening
      const group = await findGroup(next.store)
      const hasFailed = async () =>
        (await next.store.tasks({ group: group?.id ?? ("" as never), statuses: ["failed"] }, { limit: 9 })).items
          .length > 0
      const { items } = await next.store.tasks({}, { limit: 9 })
      if (group && items.length >= 2) {
        await eventually(`${describeCrash(crash)}: nothing runs any more`, async () => {
          next.clock.advance(500)
          const tasks = await next.store.tasks({ group: group.id }, { limit: 9 })
          return (await hasFailed()) && tasks.items.every(({ status }) => isTerminal(status))
        })
      }
      await runner.close()
    }
  }
})
