import * as fc from "fast-check"
import { describe, expect } from "vitest"
import { isMeanwhileError } from "../../base/error.ts"
import type { Engine } from "../../task/engine.ts"
import type { RunStatus } from "../../task/lifecycle.ts"
import { draftArbitrary, type Draft, toAction } from "./model-draft.ts"
import { createWorld, toOperation, type World } from "./model-world.ts"
import { type Action, copyModel, createModel, performOnModel, type StoreModel } from "./store-model.ts"
import { isLive } from "./oracle.ts"
import type { EngineTest } from "./subject.ts"

const SEED = Number(process.env["MEANWHILE_TEST_SEED"] ?? 20_240_607)
const IS_LONG = process.env["MEANWHILE_TEST_LENGTH"] === "long"

/** Writers that commit at the same moment; each commits its drafts together. */
type Round = readonly (readonly Draft[])[]

const roundArbitrary = fc.array(fc.array(draftArbitrary, { minLength: 1, maxLength: 2 }), {
  minLength: 1,
  maxLength: 3,
})

export function describeModel(test: EngineTest): void {
  describe("against a model", () => {
    test(`any sequence of operations by concurrent writers does what some order of them does (seed ${SEED})`, async ({
      engine,
      another,
    }) => {
      const engines = [engine, await another()]
      const rounds = fc.array(roundArbitrary, { minLength: 1, maxLength: 15 })
      await fc.assert(
        fc.asyncProperty(rounds, (plan) => runPlan(engines, plan)),
        { seed: SEED, numRuns: IS_LONG ? 5_000 : 250, endOnFailure: false },
      )
      expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })
  })
}

async function runPlan(engines: readonly Engine[], plan: readonly Round[]): Promise<void> {
  const world = createWorld()
  let model = createModel()
  for (const round of plan) {
    const writers = round.map((drafts) => drafts.map((draft) => toAction(model, draft)))
    const outcomes = await Promise.all(writers.map((actions, index) => commit(engines, world, actions, index)))
    model = await findSame(engines[0], world, explain(model, writers, outcomes))
  }
}

async function commit(
  engines: readonly Engine[],
  world: World,
  actions: readonly Action[],
  index: number,
): Promise<string | undefined> {
  const operations = actions.map((action) => toOperation(world, action))
  try {
    const answers = await engines[index % engines.length]?.store.commit(operations)
    for (const answer of answers ?? []) world.noticeFence(answer)
    return undefined
  } catch (error) {
    if (isMeanwhileError(error)) return error.code
    throw error
  }
}

/** The model after each order of the writers that explains every outcome. There must be at least one. */
function explain(
  model: StoreModel,
  writers: readonly (readonly Action[])[],
  outcomes: readonly (string | undefined)[],
): readonly StoreModel[] {
  const explanations: StoreModel[] = []
  for (const order of permutations(writers.map((_, index) => index))) {
    let after = model
    const isExplained = order.every((index) => {
      const attempt = copyModel(after)
      const refusal = firstRefusal(attempt, writers[index] ?? [])
      if (refusal === undefined) after = attempt
      return refusal === outcomes[index]
    })
    if (isExplained) explanations.push(after)
  }
  if (explanations.length > 0) return explanations
  throw new Error(`No order of these writers explains their outcomes: ${JSON.stringify({ writers, outcomes })}`)
}

/**
 * Returns the model that agrees with the store. Some claims get nothing instead of being refused, so only the store
 * tells which order it was.
 */
async function findSame(
  engine: Engine | undefined,
  world: World,
  [model, ...others]: readonly StoreModel[],
): Promise<StoreModel> {
  if (!model) throw new Error("No explanation is left.")
  try {
    await expectSame(engine, world, model)
    return model
  } catch (error) {
    if (others.length === 0) throw error
    return findSame(engine, world, others)
  }
}

/** Performs the actions up to the first refusal and returns it. The caller discards a model that refused. */
function firstRefusal(model: StoreModel, actions: readonly Action[]): string | undefined {
  for (const action of actions) {
    const refusal = performOnModel(model, action)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function permutations(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length < 2) return [items]
  return items.flatMap((first) => permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]))
}

async function expectSame(engine: Engine | undefined, world: World, model: StoreModel): Promise<void> {
  if (!engine) return
  for (const [slot, expected] of model.tasks) {
    const id = world.taskId(slot)
    const task = await engine.store.task(id)
    const { run, status, fence, lastSequence } = expected
    expect(task).toMatchObject({ run, status, fence, lastSequence })
    const events = await engine.store.events(id, 0, 1_000)
    expect(events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: lastSequence }, (_, index) => index + 1),
    )
    const notices = await engine.store.notices({ taskId: id }, 1_000)
    expect(new Map(notices.map((notice) => [notice.run, notice.state]))).toEqual(expected.notices)
    expect(notices).toHaveLength(expected.isTurn ? 0 : countEnded(expected))
    for (const [ended, endedAs] of expected.ended)
      expect(await engine.store.run(id, ended)).toMatchObject({ run: ended, status: endedAs })
    const steps = await engine.store.steps(id, run)
    expect(new Map(steps.map(({ key, state }) => [key, state]))).toEqual(expected.steps)
  }
}

function countEnded({ ended, status }: { ended: ReadonlyMap<number, unknown>; status: RunStatus }): number {
  return ended.size + (isLive(status) ? 0 : 1)
}
