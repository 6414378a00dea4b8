import { describe, expect } from "vitest"
import type { TakeRequest } from "../../task/dispatcher.ts"
import type { Engine } from "../../task/engine.ts"
import { createSessionId, createTaskId, createWorkerId, DEFAULT_WORKSPACE, type WorkspaceId } from "../../task/id.ts"
import { TASK_KINDS } from "../../task/record.ts"
import { applyEvents, CANCELLED, createTask, QUEUED, RUNNING, sampleWait, STARTED, WORKER } from "./samples.ts"
import { type EngineTest, waitUntil } from "./subject.ts"

/** Longer than a busy store takes for a few answers. */
const DELAY_MS = 1_500

export function describeQueue(test: EngineTest): void {
  describe("the dispatcher", () => {
    test("offers the highest priority first, then the oldest", async ({ engine }) => {
      const low = await createTask(engine, QUEUED, { priority: -1 })
      const first = await createTask(engine)
      const second = await createTask(engine, QUEUED, { plugin: "mcp" })
      const high = await createTask(engine, QUEUED, { priority: 9 })
      const inOrder = [high.id, first.id, second.id, low.id]
      expect(await take(engine, { plugins: ["shell", "mcp"] })).toEqual(inOrder)
      expect(await take(engine, { plugins: ["shell", "mcp"], limit: 2 })).toEqual(inOrder.slice(0, 2))
      expect(await take(engine, { limit: 0 })).toEqual([])
      const places = await Promise.all(inOrder.map((id) => engine.store.placeInQueue(id)))
      expect(places).toEqual([1, 2, 3, 4])
    })

    test("a place in the queue does not count turns, which take no slot", async ({ engine }) => {
      await createTask(engine, QUEUED, { kind: "turn" })
      const { id } = await createTask(engine)
      expect(await engine.store.placeInQueue(id)).toBe(1)
    })

    test("an offer says whose room the task will take", async ({ engine }) => {
      const session = createSessionId()
      const { id } = await createTask(engine, QUEUED, { session, model: "large" })
      const [offer] = await engine.dispatcher.take(request())
      expect(offer).toEqual({
        taskId: id,
        run: 1,
        session,
        workspace: DEFAULT_WORKSPACE,
        plugin: "shell",
        model: "large",
        tool: "run_command",
        folder: null,
      })
    })

    test("offers only what the worker has and has room for", async ({ engine }) => {
      const session = createSessionId()
      const other = "other" as WorkspaceId
      const plain = await createTask(engine)
      const inSession = await createTask(engine, QUEUED, { session })
      const withModel = await createTask(engine, QUEUED, { model: "large" })
      const elsewhere = await createTask(engine, QUEUED, { workspace: other })
      const agent = await createTask(engine, QUEUED, { kind: "agent" })
      const all = [plain.id, inSession.id, withModel.id, elsewhere.id, agent.id]
      const without = (...ids: string[]) => all.filter((id) => !ids.includes(id))
      expect(await take(engine)).toEqual(all)
      expect(await take(engine, { plugins: [] })).toEqual([])
      expect(await take(engine, { plugins: ["mcp"] })).toEqual([])
      expect(await take(engine, { kinds: ["tool"] })).toEqual(without(agent.id))
      expect(await take(engine, { kinds: [] })).toEqual([])
      expect(await take(engine, { fullSessions: [session] })).toEqual(without(inSession.id))
      expect(await take(engine, { fullModels: ["large"] })).toEqual(without(withModel.id))
      expect(await take(engine, { fullWorkspaces: [other] })).toEqual(without(elsewhere.id))
      expect(await take(engine, { only: { sessions: [session], tasks: [agent.id] } })).toEqual([inSession.id, agent.id])
      expect(await take(engine, { only: { sessions: [], tasks: [] } })).toEqual([])
      expect(await take(engine, { only: { sessions: [session], tasks: [] }, limit: 1 })).toEqual([inSession.id])
    })

    test("offers only runs whose tool the worker has, even behind many of other tools", async ({ engine }) => {
      const strange = await Promise.all(
        Array.from({ length: 20 }, () => createTask(engine, QUEUED, { tool: "strange" })),
      )
      const known = await createTask(engine, QUEUED, { tool: "known" })
      const elsewhere = await createTask(engine, QUEUED, { plugin: "mcp", tool: "known" })
      const plugins = ["shell", "mcp"]
      const withTools = (...tools: [string, string[]][]) => ({
        plugins,
        limit: 3,
        tools: new Map(tools.map(([plugin, names]) => [plugin, new Set(names)])),
      })
      expect(await take(engine, withTools(["shell", ["known"]]))).toEqual([known.id])
      expect(await take(engine, withTools(["mcp", ["known", "more"]]))).toEqual([elsewhere.id])
      expect(await take(engine, withTools(["shell", ["known"]], ["mcp", ["known"]]))).toEqual([known.id, elsewhere.id])
      expect(await take(engine, withTools(["shell", ["other"]]))).toEqual([])
      const only = { sessions: [], tasks: [known.id, elsewhere.id] }
      expect(await take(engine, { ...withTools(["mcp", ["known"]]), only })).toEqual([elsewhere.id])
      const all = strange.map(({ id }) => id).toSorted()
      const taken = await take(engine, { tools: new Map([["shell", new Set(["strange"])]]) })
      expect(taken.toSorted()).toEqual(all)
    })

    test("offers no more of a plugin than there is room for, and fills up with other plugins", async ({ engine }) => {
      const many: string[] = []
      for (let index = 0; index < 5; index++) many.push((await createTask(engine)).id)
      const another = await createTask(engine, QUEUED, { plugin: "mcp" })
      const plugins = ["shell", "mcp"]
      const room = new Map([["shell", 2]])
      expect(await take(engine, { plugins, room, limit: 3 })).toEqual([...many.slice(0, 2), another.id])
      expect(await take(engine, { room })).toEqual(many.slice(0, 2))
      expect(await take(engine, { plugins, limit: 3 })).toEqual(many.slice(0, 3))
    })

    test("other workers can have runs that were declined, and runs beyond the limit", async ({ engine, another }) => {
      const other = await another()
      const ids: string[] = []
      for (const plugin of ["shell", "mcp", "shell", "mcp"]) ids.push((await createTask(engine, QUEUED, { plugin })).id)
      const plugins = ["shell", "mcp"]
      const offers = await engine.dispatcher.take(request({ plugins, limit: 2 }))
      expect(offers.map(({ taskId }) => taskId)).toEqual(ids.slice(0, 2))
      const seen = new Set<string>()
      await waitUntil(async () => {
        for (const id of await take(other, { plugins })) seen.add(id)
        return seen.has(ids[2] ?? "") && seen.has(ids[3] ?? "")
      })
      engine.dispatcher.decline(offers)
      await waitUntil(async () => (await take(other, { plugins })).length === 4)
    })

    test("offers an input held by a worker to that worker alone", async ({ engine }) => {
      const { id } = await createTask(engine, QUEUED, { inputHeldBy: WORKER })
      expect(await take(engine, { worker: createWorkerId() })).toEqual([])
      expect(await take(engine, { worker: WORKER })).toEqual([id])
    })

    test("offers nothing that runs, waits or ended", async ({ engine }) => {
      await createTask(engine, RUNNING)
      await createTask(engine, { as: "waiting", wait: sampleWait() })
      const { id } = await createTask(engine)
      await applyEvents(engine, id, CANCELLED)
      expect(await take(engine)).toEqual([])
      expect(await engine.store.placeInQueue(id)).toBeUndefined()
      expect(await engine.store.placeInQueue(createTaskId())).toBeUndefined()
    })

    test("offers a delayed task when it falls due, and says how long that is", async ({ engine }) => {
      expect(await engine.dispatcher.nextDueInMs()).toBeUndefined()
      await createTask(engine, { as: "queued", delayMs: 100_000 })
      expect(await engine.dispatcher.nextDueInMs()).toSatisfy(isWithin(DELAY_MS, 100_000))
      const task = await createTask(engine, { as: "queued", delayMs: DELAY_MS })
      if (task.status !== "queued") throw new Error("it is queued")
      expect(await engine.dispatcher.nextDueInMs()).toSatisfy(isWithin(0, DELAY_MS))
      expect(task.availableAt).toBe(task.queuedAt + DELAY_MS)
      expect(await take(engine)).toEqual([])
      await waitUntil(async () => (await take(engine)).length === 1)
      expect(await engine.dispatcher.nextDueInMs()).toSatisfy(isWithin(DELAY_MS, 100_000))
    })

    test("offers again what was handed back, answered or begun anew", async ({ engine }) => {
      const wait = sampleWait()
      const handedBack = await createTask(engine, RUNNING)
      const answered = await createTask(engine, { as: "waiting", wait })
      const again = await createTask(engine)
      await applyEvents(engine, again.id, CANCELLED)
      await applyEvents(engine, handedBack.id, { type: "task.released", reason: "shutdown" })
      await engine.store.commit([{ op: "wait.answer", waitId: wait.id, answer: 1, answeredBy: "me" }])
      await engine.store.commit([{ op: "task.begin_run", taskId: again.id, afterRun: 1, reason: "retry" }])
      const offered = await take(engine)
      expect(offered.toSorted()).toEqual([handedBack.id, answered.id, again.id].toSorted())
      await applyEvents(engine, handedBack.id, STARTED, { type: "task.released", reason: "shutdown", delayMs: 99_000 })
      expect(await take(engine)).not.toContain(handedBack.id)
    })

    test("tells listeners of work, here and in another process", async ({ engine, another }) => {
      const other = await another()
      let here = 0
      let there = 0
      const stopHere = engine.dispatcher.onOffer(() => here++)
      const stopThere = other.dispatcher.onOffer(() => there++)
      await createTask(engine)
      await waitUntil(async () => here > 0 && there > 0)
      stopHere()
      stopHere()
      stopThere()
      const before = here
      await createTask(engine)
      expect(here).toBe(before)
    })
  })
}

function request(changes: Partial<TakeRequest> = {}): TakeRequest {
  const none = { fullSessions: [], fullModels: [], fullWorkspaces: [] }
  return { worker: WORKER, limit: 100, kinds: TASK_KINDS, plugins: ["shell"], ...none, ...changes }
}

async function take({ dispatcher }: Engine, changes: Partial<TakeRequest> = {}): Promise<readonly string[]> {
  return (await dispatcher.take(request(changes))).map(({ taskId }) => taskId)
}

function isWithin(aboveMs: number, mostMs: number): (durationMs: number) => boolean {
  return (durationMs) => durationMs > aboveMs && durationMs <= mostMs
}
