import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../../src/app.ts"
import { type BackgroundConfigInput, toBackgroundConfig } from "../../../src/runner/limits/background-config.ts"

test("every key of the configuration has a test of its name", () => {
  const sources = readdirSync(import.meta.dirname).map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  const tested = sources.flatMap((source) => [...source.matchAll(/^test\("(\w+): /gm)].map(([, key = ""]) => key))
  expect(new Set(tested)).toEqual(new Set(Object.keys(toBackgroundConfig())))
})

test("the defaults are the documented ones", () => {
  expect(toBackgroundConfig()).toMatchObject({
    maxConcurrentTasks: 10,
    maxConcurrentPerPlugin: null,
    maxConcurrentPerSession: 8,
    maxAgentDepth: 3,
    maxAgentFanOut: 8,
    defaultTimeoutSeconds: 300,
    timeoutOverrideSeconds: null,
    thresholdSeconds: 10,
    completedTaskRetentionSeconds: 3_600,
    recordRetentionDays: 30,
    outputLimitBytes: 64 * 1_024 * 1_024,
    stopGraceSeconds: 5,
  })
})

test("backgroundThresholdSeconds is another spelling of thresholdSeconds", () => {
  expect(toBackgroundConfig({ backgroundThresholdSeconds: 4 })).toEqual(toBackgroundConfig({ thresholdSeconds: 4 }))
  expect(() => toBackgroundConfig({ backgroundThresholdSeconds: 4, thresholdSeconds: 5 })).toThrow(
    "backgroundThresholdSeconds",
  )
})

const INVALID: readonly [keyof BackgroundConfigInput | "unknownKey", unknown][] = [
  ["maxConcurrentTasks", -1],
  ["maxConcurrentTasks", 100_001],
  ["maxConcurrentPerPlugin", 1.5],
  ["maxConcurrentPerSession", -1],
  ["maxConcurrentPerWorkspace", "many"],
  ["maxConcurrentPerModel", { large: 0 }],
  ["maxAgentDepth", -1],
  ["maxAgentFanOut", Number.NaN],
  ["maxTokensPerTask", 0],
  ["maxCostMicrosPerTask", -5],
  ["defaultTimeoutSeconds", Number.POSITIVE_INFINITY],
  ["timeoutOverrideSeconds", 0],
  ["timeoutOverrideSeconds", 10],
  ["foregroundTimeoutSeconds", Number.NaN],
  ["thresholdSeconds", "10"],
  ["completedTaskRetentionSeconds", -1],
  ["recordRetentionDays", Number.POSITIVE_INFINITY],
  ["outputLimitBytes", 100],
  ["stopGraceSeconds", -0.5],
  ["leaseSeconds", 0],
  ["hostReturnSeconds", 0],
  ["unknownKey", 1],
]

test.each(INVALID)("%s refuses %j with one error that names it", (key, value) => {
  const toConfig = () => toBackgroundConfig({ [key]: value })
  expect(toConfig).toThrow(expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(key) }))
})

test("an invalid configuration opens nothing and writes nothing", async () => {
  const parent = mkdtempSync(join(tmpdir(), "meanwhile-test-"))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const dataDirectory = join(parent, "data")
  await expect(createRuntime({ dataDirectory, background: { maxConcurrentTasks: -1 } })).rejects.toMatchObject({
    code: "invalid_input",
  })
  expect(existsSync(dataDirectory)).toBe(false)
})
