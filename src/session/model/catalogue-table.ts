import type { Modality } from "../../plugin/model.ts"
import type { ModelFacts, ModelPrice } from "./model-facts.ts"

const SEES: readonly Modality[] = ["text", "image", "pdf"]
const SEES_AND_HEARS: readonly Modality[] = ["text", "image", "pdf", "audio", "video"]
const TEXT: readonly Modality[] = ["text"]
const LOOKS: readonly Modality[] = ["text", "image"]
const USUAL = 128_000
const FREE: ModelPrice = { input: 0, cachedInput: 0, output: 0 }
const MILLION = 1_000_000
const GPT_LONG = 1_050_000
const GEMINI = 1_048_576

/**
 * List prices of autumn 2026 for short prompts: surcharges for long prompts, for cache writes and for priority are left
 * out. Where a pattern has no price, its models have different prices.
 */
export const KNOWN_MODELS: Readonly<Record<string, ModelFacts>> = {
  "offline/*": facts(32_000, null, FREE, SEES),
  // Models of tests take a picture without looking at it, as the offline one does.
  "scripted/*": facts(USUAL, null, null, SEES),
  "ollama/*": facts(USUAL, null, FREE, TEXT),
  "ollama/*gemma3*": facts(USUAL, null, FREE, LOOKS),
  "ollama/*llava*": facts(USUAL, null, FREE, LOOKS),
  "ollama/*pixtral*": facts(USUAL, null, FREE, LOOKS),
  "ollama/*vision*": facts(USUAL, null, FREE, LOOKS),
  "ollama/*vl*": facts(USUAL, null, FREE, LOOKS),
  "openrouter/*:free": facts(USUAL, null, FREE, TEXT),
  // Families that see, whoever serves them.
  "*claude*": facts(USUAL, null, null, LOOKS),
  "*gemini*": facts(USUAL, null, null, LOOKS),
  "*gemma-3*": facts(USUAL, null, null, LOOKS),
  "*gpt-4.1*": facts(USUAL, null, null, LOOKS),
  "*gpt-4o*": facts(USUAL, null, null, LOOKS),
  "*gpt-5*": facts(USUAL, null, null, LOOKS),
  "*gpt-6*": facts(USUAL, null, null, LOOKS),
  "*llava*": facts(USUAL, null, null, LOOKS),
  "*pixtral*": facts(USUAL, null, null, LOOKS),
  "*vision*": facts(USUAL, null, null, LOOKS),
  "*-vl*": facts(USUAL, null, null, LOOKS),

  "anthropic/claude-*": facts(200_000, 32_000, null, SEES),
  "anthropic/claude-fable-5*": facts(MILLION, 128_000, null, SEES),
  "anthropic/claude-fable-5-1": facts(MILLION, 128_000, dollars(10, 0.25, 50), SEES),
  "anthropic/claude-fable-5": facts(MILLION, 128_000, dollars(10, 1, 50), SEES),
  "anthropic/claude-opus-5-5": facts(MILLION, 128_000, dollars(4, 0.2, 20), SEES),
  "anthropic/claude-opus-5": facts(MILLION, 128_000, dollars(5, 0.5, 25), SEES),
  "anthropic/claude-opus-4-8": facts(MILLION, 128_000, dollars(5, 0.5, 25), SEES),
  "anthropic/claude-opus-4-7": facts(MILLION, 128_000, dollars(5, 0.5, 25), SEES),
  "anthropic/claude-opus-4-6": facts(MILLION, 128_000, dollars(5, 0.5, 25), SEES),
  "anthropic/claude-opus-4-5": facts(200_000, 64_000, dollars(5, 0.5, 25), SEES),
  "anthropic/claude-opus-4-1": facts(200_000, 32_000, dollars(15, 1.5, 75), SEES),
  "anthropic/claude-opus-4-0": facts(200_000, 32_000, dollars(15, 1.5, 75), SEES),
  "anthropic/claude-opus-4": facts(200_000, 32_000, dollars(15, 1.5, 75), SEES),
  "anthropic/claude-sonnet-5-5": facts(MILLION, 128_000, dollars(2, 0.2, 10), SEES),
  "anthropic/claude-sonnet-5": facts(MILLION, 128_000, dollars(2, 0.2, 10), SEES),
  "anthropic/claude-sonnet-4-6": facts(MILLION, 64_000, dollars(3, 0.3, 15), SEES),
  "anthropic/claude-sonnet-4-5": facts(200_000, 64_000, dollars(3, 0.3, 15), SEES),
  "anthropic/claude-sonnet-4-0": facts(200_000, 64_000, dollars(3, 0.3, 15), SEES),
  "anthropic/claude-sonnet-4": facts(200_000, 64_000, dollars(3, 0.3, 15), SEES),
  "anthropic/claude-haiku-5-5": facts(MILLION, 128_000, dollars(0.1, 0.01, 0.5), SEES),
  "anthropic/claude-haiku-4-5": facts(200_000, 64_000, dollars(1, 0.1, 5), SEES),
  "anthropic/claude-3-haiku": facts(200_000, 4_096, dollars(0.25, 0.03, 1.25), ["text", "image"]),

  "openai/gpt-6*": facts(GPT_LONG, 128_000, null, SEES),
  "openai/gpt-6.1-sol": facts(GPT_LONG, 128_000, dollars(2, 0.1, 10), SEES),
  "openai/gpt-6-astra": facts(GPT_LONG, 128_000, dollars(10, 1, 50), SEES),
  "openai/gpt-6-sol": facts(GPT_LONG, 128_000, dollars(2, 0.2, 10), SEES),
  "openai/gpt-6-luna": facts(GPT_LONG, 128_000, dollars(0.1, 0.01, 0.5), SEES),
  "openai/gpt-5*": facts(400_000, 128_000, null, SEES),
  "openai/gpt-5.6": facts(GPT_LONG, 128_000, dollars(4, 0.4, 20), SEES),
  "openai/gpt-5.6-sol": facts(GPT_LONG, 128_000, dollars(4, 0.4, 20), SEES),
  "openai/gpt-5.6-terra": facts(GPT_LONG, 128_000, dollars(2, 0.2, 12), SEES),
  "openai/gpt-5.6-luna": facts(GPT_LONG, 128_000, dollars(0.2, 0.02, 1.2), SEES),
  "openai/gpt-5.5": facts(GPT_LONG, 128_000, dollars(5, 0.5, 30), SEES),
  "openai/gpt-5.4": facts(GPT_LONG, 128_000, dollars(2.5, 0.25, 15), SEES),
  "openai/gpt-5.4-mini": facts(400_000, 128_000, dollars(0.75, 0.075, 4.5), SEES),
  "openai/gpt-5.4-nano": facts(400_000, 128_000, dollars(0.2, 0.02, 1.25), SEES),
  "openai/gpt-5.3-codex": facts(400_000, 128_000, dollars(1.75, 0.175, 14), SEES),
  "openai/gpt-5.2": facts(400_000, 128_000, dollars(1.75, 0.175, 14), SEES),
  "openai/gpt-5.2-codex": facts(400_000, 128_000, dollars(1.75, 0.175, 14), SEES),
  "openai/gpt-5.1": facts(400_000, 128_000, dollars(1.25, 0.125, 10), SEES),
  "openai/gpt-5.1-codex": facts(400_000, 128_000, dollars(1.25, 0.125, 10), SEES),
  "openai/gpt-5": facts(400_000, 128_000, dollars(1.25, 0.125, 10), SEES),
  "openai/gpt-5-codex": facts(400_000, 128_000, dollars(1.25, 0.125, 10), SEES),
  "openai/gpt-5-mini": facts(400_000, 128_000, dollars(0.25, 0.025, 2), SEES),
  "openai/gpt-5-nano": facts(400_000, 128_000, dollars(0.05, 0.005, 0.4), SEES),
  "openai/gpt-4.1": facts(1_047_576, 32_768, dollars(2, 0.5, 8), SEES),
  "openai/gpt-4.1-mini": facts(1_047_576, 32_768, dollars(0.4, 0.1, 1.6), SEES),
  "openai/gpt-4.1-nano": facts(1_047_576, 32_768, dollars(0.1, 0.025, 0.4), SEES),
  "openai/gpt-4o": facts(128_000, 16_384, dollars(2.5, 1.25, 10), SEES),
  "openai/gpt-4o-mini": facts(128_000, 16_384, dollars(0.15, 0.075, 0.6), SEES),
  "openai/o4-mini": facts(200_000, 100_000, dollars(1.1, 0.275, 4.4), SEES),
  "openai/o3": facts(200_000, 100_000, dollars(2, 0.5, 8), SEES),
  "openai/o3-mini": facts(200_000, 100_000, dollars(1.1, 0.55, 4.4), TEXT),
  "openai/o1": facts(200_000, 100_000, dollars(15, 7.5, 60), SEES),

  "google/gemini-*": facts(GEMINI, 65_536, null, SEES_AND_HEARS),
  "google/gemini-4-argon": facts(GEMINI, 65_536, dollars(2, 0.1, 10), SEES_AND_HEARS),
  "google/gemini-3.8-flash": facts(GEMINI, 65_536, dollars(0.75, 0.075, 3.75), SEES_AND_HEARS),
  "google/gemini-3.7-flash": facts(GEMINI, 65_536, dollars(0.75, 0.075, 3.75), SEES_AND_HEARS),
  "google/gemini-3.1-pro-preview": facts(GEMINI, 65_536, dollars(2, 0.2, 12), SEES_AND_HEARS),
  "google/gemini-3-pro-preview": facts(GEMINI, 65_536, dollars(2, 0.2, 12), SEES_AND_HEARS),
  "google/gemini-3-flash-preview": facts(GEMINI, 65_536, dollars(0.5, 0.05, 3), SEES_AND_HEARS),
  "google/gemini-2.5-pro": facts(GEMINI, 65_536, dollars(1.25, 0.125, 10), SEES_AND_HEARS),
  "google/gemini-2.5-flash": facts(GEMINI, 65_536, dollars(0.3, 0.03, 2.5), SEES_AND_HEARS),
  "google/gemini-2.5-flash-lite": facts(GEMINI, 65_536, dollars(0.1, 0.01, 0.4), SEES_AND_HEARS),
  "google/gemini-2.0-flash": facts(GEMINI, 8_192, dollars(0.1, 0.025, 0.4), SEES_AND_HEARS),
}

/** The model of each provider for sessions that name none: that of the first provider with an API key is used. */
export const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  anthropic: "anthropic/claude-sonnet-5-5",
  openai: "openai/gpt-6-sol",
  google: "google/gemini-4-argon",
}

function facts(
  contextLimitTokens: number,
  maxOutputTokens: number | null,
  price: ModelPrice | null,
  modalities: readonly Modality[],
): ModelFacts {
  return { contextLimitTokens, maxOutputTokens, price, modalities }
}

function dollars(input: number, cachedInput: number, output: number): ModelPrice {
  return { input, cachedInput, output }
}
