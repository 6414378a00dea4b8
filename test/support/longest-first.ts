import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * The files that take longest, in this order. The last pattern covers folders whose tests start and kill programs, or wait for
 * a server.
 */
const LONGEST = [
  /\/(?:store-away|worker|standstill|crash-workers|resuming|wrong-clock|delivery-points|mixed-fleet|package|examples)\.slow\./,
  /\/src\/engine\/postgres\/engine\.test\.ts$/,
  /\/(?:test\/(?:chaos|cli)|src\/engine\/postgres)\//,
]

/** The first project runs alone, the others side by side: the many short files of the last one fill the gaps. */
const PROJECTS = ["fast", "slow", "postgres-slow", "postgres"]

/**
 * Begins with the files that take longest: a long file that begins last would run on alone. Vitest remembers how long a file
 * took in earlier runs. In a fresh checkout Vitest sorts by size, and the longest tests are not in the largest files. Files of
 * one project stay together, because the next file begins in the same process.
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
