import { describe, expect, test } from "vitest"
import { createModelCatalogue, UNKNOWN_MODEL } from "./catalogue.ts"
import { modelsConfigSchema } from "./model-facts.ts"
import { KNOWN_MODELS } from "./catalogue-table.ts"

const catalogue = createModelCatalogue()

describe("the model catalogue", () => {
  test("knows a model by its id, and the same one with a date behind it", () => {
    const sonnet = catalogue.factsOf("anthropic/claude-sonnet-4-5")
    expect(sonnet).toMatchObject({ contextLimitTokens: 200_000, price: { input: 3, cachedInput: 0.3, output: 15 } })
    expect(catalogue.factsOf("anthropic/claude-sonnet-4-5-20250929")).toEqual(sonnet)
    expect(catalogue.factsOf("openai/gpt-5-2025-08-07")).toEqual(catalogue.factsOf("openai/gpt-5"))
  })

  test("gives a newer model of a known family the family's limit and no price", () => {
    expect(catalogue.factsOf("google/gemini-9-flash")).toMatchObject({ contextLimitTokens: 1_048_576, price: null })
    expect(catalogue.factsOf("anthropic/claude-fable-5-9")).toMatchObject({
      contextLimitTokens: 1_000_000,
      price: null,
    })
    expect(catalogue.factsOf("openai/gpt-5-pro").price).toBeNull()
  })

  test("gives a model nobody knows 128,000 tokens, text only and no price", () => {
    expect(catalogue.factsOf("my-server/my-model")).toEqual(UNKNOWN_MODEL)
    expect(UNKNOWN_MODEL).toMatchObject({ contextLimitTokens: 128_000, price: null, modalities: ["text"] })
    expect(catalogue.factsOf("__proto__")).toEqual(UNKNOWN_MODEL)
  })

  test.each([
    ["openrouter/anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"],
    ["openrouter/google/gemini-2.5-pro", "google/gemini-2.5-pro"],
    ["openrouter/openai/gpt-4o:online", "openai/gpt-4o"],
    ["vertex/gemini-2.5-flash", "google/gemini-2.5-flash"],
    ["vertex/claude-opus-4-1@20250805", "anthropic/claude-opus-4-1"],
  ])("knows %s as %s", (id, known) => {
    expect(catalogue.factsOf(id)).toBe(KNOWN_MODELS[known])
  })

  test.each([
    ["anthropic/claude-sonnet-4-5", true],
    ["openai/gpt-5-mini", true],
    ["google/gemini-2.5-pro", true],
    ["offline/small", true],
    ["ollama/llava:13b", true],
    ["ollama/gemma3:4b", true],
    ["lab/qwen3-vl", true],
    ["openrouter/mistralai/pixtral-large", true],
    ["bedrock/anthropic.claude-opus-5", true],
    ["openai/gpt-3.5-turbo", false],
    ["ollama/llama3", false],
    ["my-server/my-model", false],
  ])("knows whether %s sees: %s", (id, sees) => {
    expect(catalogue.factsOf(id).modalities.includes("image")).toBe(sees)
  })

  test("knows models that cost nothing", () => {
    for (const id of ["offline/rules", "ollama/llama3", "openrouter/meta/llama:free"]) {
      expect(catalogue.factsOf(id).price).toEqual({ input: 0, cachedInput: 0, output: 0 })
    }
  })

  test("puts the person's facts over the known ones, and a more exact pattern over a less exact one", () => {
    const overridden = createModelCatalogue({
      "my-server/big": { contextLimitTokens: 500_000 },
      "my-server/*": { contextLimitTokens: 64_000, price: { input: 1, output: 2 } },
      "*": { maxOutputTokens: 1_000 },
      "openai/gpt-4o": { price: null },
    })
    const price = { input: 1, output: 2 }
    expect(overridden.factsOf("my-server/small")).toEqual({
      contextLimitTokens: 64_000,
      maxOutputTokens: 1_000,
      price,
      modalities: ["text"],
    })
    expect(overridden.factsOf("my-server/big")).toMatchObject({ contextLimitTokens: 500_000, price })
    expect(overridden.factsOf("openai/gpt-4o")).toMatchObject({ contextLimitTokens: 128_000, price: null })
  })

  test("every entry of its table is found under its own id", () => {
    const ids = Object.keys(KNOWN_MODELS).filter((id) => !id.includes("*"))
    expect(ids.filter((id) => catalogue.factsOf(id) !== KNOWN_MODELS[id])).toEqual([])
  })
})

describe("the section models", () => {
  test("takes nothing, and partial facts by id or pattern", () => {
    expect(modelsConfigSchema().parse(undefined)).toEqual({})
    const given = { "my-server/*": { contextLimitTokens: 64_000 }, "openai/gpt-4o": { price: null } }
    expect(createModelCatalogue(modelsConfigSchema().parse(given)).factsOf("my-server/a").contextLimitTokens).toBe(
      64_000,
    )
  })

  test.each([
    [{ "gpt-4o": {} }, "must be a model's id"],
    [{ "openai/gpt-4o": { contextLimit: 5 } }, "contextLimit"],
    [{ "openai/gpt-4o": { price: { input: -1, output: 2 } } }, ">=0"],
    [{ "openai/gpt-4o": { modalities: ["smell"] } }, "text"],
  ])("refuses %j", (given, hint) => {
    const parsed = modelsConfigSchema().safeParse(given)
    expect(parsed.error?.message).toContain(hint)
  })
})
