import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

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
        {
          extends: true,
          test: {
            name: "fast",
            include: ["{src,test}/**/*.test.ts"],
            exclude: [SLOW],
            testTimeout: 5_000,
            // Whoever is the first to ask for a server waits until there is one.
            hookTimeout: 30_000,
          },
        },
        {
          extends: true,
          test: {
            name: "slow",
            include: [SLOW],
            testTimeout: isLong ? 3_600_000 : 90_000,
            hookTimeout: 60_000,
          },
        },
      ],
    },
  }
})
