import { fileURLToPath } from "node:url"

/** Workers of earlier schemas, as they were built then. The next migration replaces the one of the previous schema. */
export const KEPT_WORKERS = {
  "first schema": fileURLToPath(new URL("../../fixtures/worker-of-schema-1/worker.js", import.meta.url)),
  "previous schema": fileURLToPath(new URL("../../fixtures/worker-of-schema-4/worker.js", import.meta.url)),
} as const
