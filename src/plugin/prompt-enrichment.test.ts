import { expect, it } from "vitest"
import { enrichPrompt } from "./prompt-enrichment.ts"

it("hands the prompt through all enrichers, passes over one that throws, and keeps what each found", async () => {
  const enrichment = await enrichPrompt(
    [
      { plugin: "files", enrichPrompt: (prompt) => ({ prompt: `${prompt} [file]`, metadata: { files: ["a.txt"] } }) },
      {
        plugin: "broken",
        enrichPrompt: () => {
          throw new Error("no index")
        },
      },
      { plugin: "time", enrichPrompt: async (prompt) => ({ prompt: `${prompt} [noon]` }) },
    ],
    "What is in @a.txt?",
    { session: null },
  )
  expect(enrichment).toEqual({
    prompt: "What is in @a.txt? [file] [noon]",
    metadata: { files: { files: ["a.txt"] } },
    failures: { broken: "no index" },
  })
})

it("passes over an enricher that returns something else, and names it", async () => {
  const wrong = { plugin: "wrong", enrichPrompt: () => ({ text: "other" }) as never }
  const { prompt, failures } = await enrichPrompt([wrong], "as it was", { session: null })
  expect(prompt).toBe("as it was")
  expect(failures).toEqual({ wrong: "it must return { prompt: string }" })
})
