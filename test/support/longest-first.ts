import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Where tests start programs one after the other, kill them again and again, build the package, or wait for a server. */
const LONGEST = /\/(?:test\/(?:chaos\/|cli\/|examples\.|package\.)|src\/engine\/postgres\/)/

/**
 * What takes longest is begun first: begun last, it would go on alone. Vitest knows how long a file took when it has run here
 * before. In a fresh checkout it goes by their sizes, and the tests that take longest are not in the largest files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files)
    const isKnown = files.every((file) => this.ctx.cache.getTestSpecificationResult(file) !== undefined)
    return isKnown ? sorted : sorted.toSorted((one, other) => toRank(one) - toRank(other))
  }
}

function toRank({ moduleId }: TestSpecification): number {
  return LONGEST.test(moduleId) ? 0 : 1
}
