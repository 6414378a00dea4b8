import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createReferencesPlugin } from "../../src/builtin/references/references-plugin.ts"
import { backgroundCapable } from "../../src/plugin/background-adapter.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { TaskService } from "../../src/plugin/task-service.ts"

const plugin = definePlugin({ kind: "tool", name: "test", tools: [] })
const service = {} as TaskService

/** Without types, as a program in JavaScript calls them. */
const calls = {
  createBackgroundPlugin: (options: object) => createBackgroundPlugin(options),
  backgroundCapable: (options: object) => backgroundCapable(plugin, service, options),
  createReferencesPlugin: (options: object) =>
    createReferencesPlugin(options as Parameters<typeof createReferencesPlugin>[0]),
}

test.each([
  { call: "createBackgroundPlugin", former: "backgroundThresholdSeconds", name: "thresholdSeconds", value: 4 },
  { call: "backgroundCapable", former: "backgroundThresholdSeconds", name: "thresholdSeconds", value: 4 },
  { call: "createReferencesPlugin", former: "references", name: "documents", value: [] },
] as const)("$call refuses its option $name by its former name, and says how it is called", (given) => {
  const { call, former, name, value } = given
  const refused = { code: "invalid_input", message: `The option ${former} is called ${name}.` }
  expect(() => calls[call]({ [former]: value })).toThrow(expect.objectContaining(refused))
  expect(() => calls[call]({ root: "/", [name]: value })).not.toThrow()
})
