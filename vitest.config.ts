import { fileURLToPath } from "node:url"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { isAbout, OF_POSTGRES, ON_POSTGRES, slowOnPostgres } from "./test/support/engines.ts"
import { LongestFirst } from "./test/support/longest-first.ts"
import { toSeedEnvironment } from "./test/support/test-seed.ts"

/**
 * `npm run test:long` is `--mode long`: the seeded suites read MEANWHILE_TEST_LENGTH and run thousands of rounds from a new
 * seed, which is printed. MEANWHILE_TEST_SEED gives one.
 */
const LONG_MODE = "long"
const SLOW = "{src,test}/**/*.slow.test.ts"
/** Hundreds of processes start: each finds here what one before it has compiled. */
const COMPILED = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url))
/**
 * Slow tests wait more than they compute: for leases, for back-offs, for one process after another, and all tests on
 * PostgreSQL for a server. Four files side by side keep two cores busy. They come last, in a group of their own: quick tests
 * without a server have the machine to themselves.
 */
const SIDE_BY_SIDE = {
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
}
const BUILT = { globalSetup: ["test/support/build-programs.ts"] }
/**
 * A file begins with what files before it have loaded: to load all of it anew took longer than many tests. No module keeps
 * what another test could see, which is why tests that measure their process wait until it has settled.
 */
const IN_ONE_PROCESS = { isolate: false }
/** Longer than a test waits for anything in it, so that one that hangs says what has not happened. None is meant to take seconds. */
const QUICK_TIMEOUT_MS = 60_000
/** As long as `eventually` looks. */
const POLL_TIMEOUT_MS = 30_000
/** The longest kill dozens of programs, for minutes where the machine has others to serve. What they wait for has its own bound. */
const SLOW_TIMEOUT_MS = 600_000
/** In long mode a chaos test plays its hundreds of rounds for an hour where two cores have nothing else to do. */
const LONG_TIMEOUT_MS = 10_800_000

export default defineConfig(({ mode }) => {
  const isLong = mode === LONG_MODE
  return {
    test: {
      env: {
        MEANWHILE_TEST_LENGTH: isLong ? "long" : "short",
        NODE_COMPILE_CACHE: COMPILED,
        ...toSeedEnvironment(isLong),
      },
      maxWorkers: 2,
      expect: { poll: { timeout: POLL_TIMEOUT_MS } },
      sequence: { sequencer: LongestFirst },
      globalSetup: ["test/support/run-folder.ts", "test/support/postgres/shared-server.ts"],
      projects: [
        ...(isAbout("embedded") ? [fast, slow(isLong)] : []),
        ...(isAbout("postgres") ? [postgres, slowPostgres(isLong)] : []),
      ],
    },
  }
})

const fast: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "fast",
    ...IN_ONE_PROCESS,
    include: ["{src,test}/**/*.test.ts"],
    exclude: [SLOW, ...OF_POSTGRES],
    env: { MEANWHILE_TEST_ENGINE: "embedded" },
    testTimeout: QUICK_TIMEOUT_MS,
    hookTimeout: QUICK_TIMEOUT_MS,
  },
}

const slow = (isLong: boolean): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: "slow",
    ...IN_ONE_PROCESS,
    ...SIDE_BY_SIDE,
    ...BUILT,
    include: [SLOW],
    env: { MEANWHILE_TEST_ENGINE: "embedded" },
    testTimeout: isLong ? LONG_TIMEOUT_MS : SLOW_TIMEOUT_MS,
    hookTimeout: SLOW_TIMEOUT_MS,
  },
})

/** The tests of the other engine, and many of the same tests again on it. */
const postgres: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "postgres",
    ...IN_ONE_PROCESS,
    ...SIDE_BY_SIDE,
    ...ON_POSTGRES,
    env: { MEANWHILE_TEST_ENGINE: "postgres" },
    testTimeout: QUICK_TIMEOUT_MS,
    hookTimeout: QUICK_TIMEOUT_MS,
  },
}

const slowPostgres = (isLong: boolean): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: "postgres-slow",
    ...IN_ONE_PROCESS,
    ...SIDE_BY_SIDE,
    ...BUILT,
    ...slowOnPostgres(isLong),
    env: { MEANWHILE_TEST_ENGINE: "postgres" },
    testTimeout: SLOW_TIMEOUT_MS,
    hookTimeout: SLOW_TIMEOUT_MS,
  },
})
