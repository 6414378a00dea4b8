import * as fc from "fast-check"
import { TEST_SEED } from "./chaos/seed.ts"

type Rounds<Values> = Omit<fc.Parameters<Values>, "seed">

/** Tries a property with the seed of this run: the same in every short run, a new one in every long run. */
export function assertProperty<Values>(property: fc.IAsyncProperty<Values>, rounds?: Rounds<Values>): Promise<void>
export function assertProperty<Values>(property: fc.IProperty<Values>, rounds?: Rounds<Values>): void
export function assertProperty<Values>(
  property: fc.IRawProperty<Values>,
  rounds?: Rounds<Values>,
): void | Promise<void> {
  return fc.assert(property, { ...rounds, seed: TEST_SEED })
}

/** Draws values with the seed of this run, for tests that play each one on its own. */
export function drawValues<Value>(arbitrary: fc.Arbitrary<Value>, count: number): readonly Value[] {
  return fc.sample(arbitrary, { seed: TEST_SEED, numRuns: count })
}
