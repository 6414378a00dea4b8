import { describe, expect, it } from "vitest"
import { useConfigFolder } from "../../test/support/config/config-folder.ts"

const { load, loadTrusted } = useConfigFolder()

describe("environment variables", () => {
  it("go before the file", async () => {
    const loaded = await loadTrusted("meanwhile.config.json", `{ "background": { "maxConcurrentTasks": 3 } }`, {
      MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS: "20",
      MEANWHILE_MODEL_NAME: "7",
      MEANWHILE_BACKGROUND_TIMEOUT_OVERRIDE_SECONDS: "",
      UNRELATED: "1",
    })
    expect(loaded.values).toEqual({
      background: { maxConcurrentTasks: 20, timeoutOverrideSeconds: null },
      model: { name: "7" },
      prices: {},
      place: null,
      rules: { list: [] },
    })
  })

  it("may use another spelling that is accepted, and go before the file in either", async () => {
    const file = (content: string, environment: Record<string, string>) =>
      loadTrusted("meanwhile.config.json", content, environment)
    for (const content of [`{ "model": { "name": "file" } }`, `{ "model": { "modelName": "file" } }`]) {
      for (const variable of ["MEANWHILE_MODEL_NAME", "MEANWHILE_MODEL_MODEL_NAME"]) {
        expect((await file(content, { [variable]: "variable" })).values.model).toEqual({ name: "variable" })
      }
    }
  })

  it("are named when their value is wrong", async () => {
    await expect(load({ MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS: "many" })).rejects.toThrow(
      "background.maxConcurrentTasks (set by the environment variable MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS)",
    )
  })

  it("that should be a list are refused with their value as JSON", async () => {
    await expect(load({ MEANWHILE_RULES_LIST: "one, two" })).rejects.toThrow(
      'rules.list (set by the environment variable MEANWHILE_RULES_LIST): must be a list, as JSON: ["one","two"]',
    )
  })

  it("that set nothing are refused, with a hint at the variable that was meant", async () => {
    await expect(load({ MEANWHILE_BACKGROUND_MAX_CONCURENT_TASKS: "2" })).rejects.toThrow(
      "Did you mean MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS?",
    )
  })
})
