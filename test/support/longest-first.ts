import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * The files that take longest, and then where tests start programs one after the other, kill them again and again, or wait
 * for a server.
 */
const LONGEST = [
  /\/(?:store-away|worker|standstill|crash-workers|resuming|wrong-clock|delivery-points|mixed-fleet|package|examples)\.slow\./,
  /\/src\/engine\/postgres\/engine\.test\.ts$/,
  /\/(?:test\/(?:chaos|cli)|src\/engine\/postgres)\//,
]

/** The first runs alone, the others side by side: the many short files of the last one fill what the long ones leave. */
const PROJECTS = ["fast", "slow", "postgres-slow", "postgres"]

/**
 * What takes longest is begun first: begun last, it would go on alone. Vitest knows how long a file took when it has run here
 * before. In a fresh checkout it goes by their sizes, and the tests that take longest are not in the largest files. Files
 * of one project stay together: the next one begins in the same process.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files)
    const isKnown = files.every((file) => this.ctx.cache.getTestSpecificationResult(file) !== undefined)
    const ranked = isKnown ? sorted : sorted.toSorted((one, other) => toRank(one) - toRank(other))
    return ranked.toSorted((one, other) => toProjectRank(one) - toProjectRank(other))
  }
}

function toRank({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((pattern) => pattern.test(moduleId))
  return rank === -1 ? LONGEST.length : rank
}

function toProjectRank({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name)
}
