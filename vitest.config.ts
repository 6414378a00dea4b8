import { fileURLToPath } from "node:url"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { isAbout, ON_POSTGRES, SLOW_ON_POSTGRES } from "./test/engines.ts"

/** `npm run test:long` is `--mode long`: the seeded suites read MEANWHILE_TEST_LENGTH and run thousands of seeds. */
const LONG_MODE = "long"
const SLOW = "{src,test}/**/*.slow.test.ts"
/** Hundreds of processes are started from the sources: each finds here what one before it has compiled. */
const COMPILED = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url))

export default defineConfig(({ mode }) => {
  const isLong = mode === LONG_MODE
  return {
    test: {
      env: { MEANWHILE_TEST_LENGTH: isLong ? "long" : "short", NODE_COMPILE_CACHE: COMPILED },
      // Slow suites start real processes of their own: more workers than this make them slower, not faster.
      maxWorkers: 2,
      globalSetup: ["src/engine/postgres/test-shared-server.ts"],
      projects: [
        ...(isAbout("embedded") ? [fast, slow(isLong)] : []),
        ...(isAbout("postgres") ? [postgres, slowPostgres] : []),
      ],
    },
  }
})

const fast: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "fast",
    include: ["{src,test}/**/*.test.ts"],
    exclude: [SLOW],
    env: { MEANWHILE_TEST_ENGINE: "embedded" },
    testTimeout: 5_000,
    // Whoever is the first to ask for a server waits until there is one.
    hookTimeout: 30_000,
  },
}

const slow = (isLong: boolean): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: "slow",
    include: [SLOW],
    env: { MEANWHILE_TEST_ENGINE: "embedded" },
    testTimeout: isLong ? 3_600_000 : 90_000,
    hookTimeout: 60_000,
  },
})

/** The same tests again, on the other engine. */
const postgres: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "postgres",
    ...ON_POSTGRES,
    env: { MEANWHILE_TEST_ENGINE: "postgres" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
}

const slowPostgres: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "postgres-slow",
    include: SLOW_ON_POSTGRES,
    env: { MEANWHILE_TEST_ENGINE: "postgres" },
    testTimeout: 90_000,
    hookTimeout: 60_000,
  },
}
