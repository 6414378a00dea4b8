import { fileURLToPath } from "node:url"

/** Workers of earlier schemas, as they were: the next migration replaces that of the previous one. */
export const KEPT_WORKERS = {
  "first schema": fileURLToPath(new URL("../../fixtures/worker-of-schema-1/worker.js", import.meta.url)),
  "previous schema": fileURLToPath(new URL("../../fixtures/worker-of-schema-2/worker.js", import.meta.url)),
} as const
