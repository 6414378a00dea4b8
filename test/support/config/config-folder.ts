import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import { z } from "zod"
import { loadConfig } from "../../../src/config/load-config.ts"

export const sections = {
  background: z
    .strictObject({
      maxConcurrentTasks: z.number().int().positive().default(10),
      timeoutOverrideSeconds: z.number().positive().nullable().default(null),
    })
    .readonly(),
  model: z.strictObject({ name: z.string().default("offline") }),
  prices: z.record(z.string(), z.strictObject({ input: z.number(), cached: z.number().optional() }).nullable()),
  place: z
    .string()
    .refine((text) => text.startsWith("/"), "must be a path")
    .nullable()
    .default(null),
  rules: z.strictObject({ list: z.array(z.strictObject({ tool: z.string() })).default([]) }),
}

const spellings = { model: { modelName: "name" } }

/** Gives each test of a file a folder of its own, whose configuration the test loads. */
export function useConfigFolder() {
  let directory = ""
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "meanwhile-config-"))
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))

  const load = (environment: Record<string, string> = {}, isTrusted = false) =>
    loadConfig({ directory, sections, spellings, isTrusted, environment })

  async function loadTrusted(name: string, content: string, environment: Record<string, string> = {}) {
    await writeFile(join(directory, name), content)
    return load(environment, true)
  }

  return { load, loadTrusted, directory: () => directory }
}
