import { describe, expect } from "vitest"
import { applyEvents, COMPLETED, createTask, RUNNING, sampleDetails } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeSteps(test: EngineTest): void {
  describe("recording steps", () => {
    test("a step is started, finished and keeps its first result", async ({ engine }) => {
      const { id, fence } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1, fence }
      const [started] = await engine.store.commit([{ op: "step.start", run, key: "a", onCrash: "retry" }])
      expect(started).toMatchObject({ taskId: id, run: 1, key: "a", onCrash: "retry", state: "started" })
      expect(await engine.store.commit([{ op: "step.start", run, key: "a", onCrash: "fail" }])).toEqual([started])
      const [finished] = await engine.store.commit([{ op: "step.finish", run, key: "a", result: { ok: true } }])
      expect(finished).toMatchObject({ state: "finished", completion: 1, result: { ok: true }, onCrash: "retry" })
      expect(await engine.store.commit([{ op: "step.finish", run, key: "a", result: "other" }])).toEqual([finished])
      expect(await engine.store.commit([{ op: "step.start", run, key: "a", onCrash: "ask" }])).toEqual([finished])
      expect(await engine.store.steps(id, 1)).toEqual([finished])
      const types = (await engine.store.events(id, 2, 10)).map(({ body }) => body)
      expect(types).toEqual([
        { type: "step.started", key: "a" },
        { type: "step.finished", key: "a", completion: 1 },
      ])
    })

    test("finished steps are numbered in the order in which they finished", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1 }
      for (const key of ["a", "b", "c"]) await engine.store.commit([{ op: "step.start", run, key, onCrash: "fail" }])
      for (const key of ["c", "a", "unstarted"])
        await engine.store.commit([{ op: "step.finish", run, key, result: key }])
      const steps = await engine.store.steps(id, 1)
      const completions = steps.map((step) => [step.key, step.state === "finished" ? step.completion : null])
      expect(completions).toEqual([
        ["a", 2],
        ["b", null],
        ["c", 1],
        ["unstarted", 3],
      ])
    })

    test("many writers finish steps of one run without a gap", async ({ engine, another }) => {
      const other = await another()
      const { id } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1 }
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? engine : other).store.commit([{ op: "step.finish", run, key: `key-${index}`, result: index }]),
        ),
      )
      const steps = await engine.store.steps(id, 1)
      const completions = steps.map((step) => (step.state === "finished" ? step.completion : 0))
      expect(completions.toSorted((one, two) => one - two)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    })

    test("steps taken before the task was written are written with it", async ({ engine }) => {
      const details = sampleDetails({ idempotencyKey: "key" })
      const steps = [
        { key: "open", onCrash: "ask", state: "started" },
        { key: "b", onCrash: "retry", state: "finished", result: 2 },
        { key: "a", onCrash: "fail", state: "finished", result: null },
      ] as const
      const create = { op: "task.create", details, entry: RUNNING, steps } as const
      const [{ task }] = await engine.store.commit([create])
      expect(task).toMatchObject({ fence: 1, lastSequence: 5 })
      expect(await engine.store.task(details.id)).toEqual(task)
      const written = await engine.store.steps(details.id, 1)
      expect(written).toMatchObject([
        { key: "open", onCrash: "ask", state: "started" },
        { key: "b", onCrash: "retry", state: "finished", completion: 1, result: 2 },
        { key: "a", onCrash: "fail", state: "finished", completion: 2, result: null },
      ])
      expect((await engine.store.events(details.id, 2, 10)).map(({ body }) => body)).toEqual([
        { type: "step.started", key: "open" },
        { type: "step.finished", key: "b", completion: 1 },
        { type: "step.finished", key: "a", completion: 2 },
      ])
      const again = { ...create, details: sampleDetails({ idempotencyKey: "key" }) }
      expect(await engine.store.commit([again])).toEqual([{ task, created: false }])
      expect(await engine.store.steps(details.id, 1)).toEqual(written)
    })

    test("steps belong to their run", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      await engine.store.commit([{ op: "step.finish", run: { taskId: id, run: 1 }, key: "a", result: 1 }])
      await applyEvents(engine, id, COMPLETED)
      await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      expect(await engine.store.steps(id, 2)).toEqual([])
      await engine.store.commit([{ op: "step.finish", run: { taskId: id, run: 2 }, key: "a", result: 2 }])
      expect(await engine.store.steps(id, 1)).toMatchObject([{ result: 1, completion: 1 }])
      expect(await engine.store.steps(id, 2)).toMatchObject([{ result: 2, completion: 1 }])
    })

    test("a step of a run that ended, or is not current, is refused", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1 }
      const later = { taskId: id, run: 2 }
      await expectRefusal(engine.store.commit([{ op: "step.finish", run: later, key: "a", result: 1 }]), "wrong_state")
      await applyEvents(engine, id, COMPLETED)
      await expectRefusal(engine.store.commit([{ op: "step.start", run, key: "a", onCrash: "fail" }]), "wrong_state")
      await expectRefusal(engine.store.commit([{ op: "step.finish", run, key: "a", result: 1 }]), "wrong_state")
    })
  })
}
