import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createMultimodalPlugin } from "../../src/builtin/multimodal/multimodal-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { EnrichmentContext } from "../../src/plugin/prompt-enrichment.ts"
import { createFolder } from "../support/workplace.ts"
import { lastSaid, openAgent } from "../support/session/open-agent.ts"
import { say } from "../support/session/test-tools.ts"

const enriching = (name: string) =>
  definePlugin({
    kind: "tool",
    name,
    tools: [{ ...say, name: `say_${name}` }],
    systemInstructions: `I am ${name}.`,
    enrichPrompt: (prompt: string) => ({ prompt: `${prompt} +${name}`, metadata: { seen: prompt } }),
  })

test("004-20: plugins enrich what the person wrote before the model sees it, one after the other", async () => {
  const { session, model } = await openAgent(["ok"], { plugins: [enriching("one"), enriching("two")] })
  await session.send("hello")
  expect(model.requests[0]?.messages.map(textOf)).toEqual(["hello +one +two"])
})

test("what plugins found in a prompt is told to listeners, by plugin, and not to the model", async () => {
  const { session, events, model } = await openAgent(["ok", "ok"], { plugins: [enriching("one"), enriching("two")] })
  await session.send("hello")
  expect(events.filter(({ type }) => type === "prompt.enriched")).toEqual([
    { type: "prompt.enriched", agent: session.id, metadata: { one: { seen: "hello" }, two: { seen: "hello +one" } } },
  ])
  expect(JSON.stringify(model.requests)).not.toContain("seen")
})

test("004-44: a plugin registered for enrichment only enriches, and its tools, words and commands stay away", async () => {
  const { runtime, session, model } = await openAgent(["one", "two"])
  await runtime.plugins.register(enriching("quiet"), { expose: "enrichment" })
  await session.send("hello")
  expect(model.requests[0]).toMatchObject({ tools: [], system: "" })
  expect(lastSaid(model, 0)).toBe("hello +quiet")
  await runtime.plugins.expose("quiet")
  await session.send("again")
  expect(model.requests[1]).toMatchObject({
    tools: [{ name: "say_quiet" }],
    system: expect.stringContaining("I am quiet."),
  })
})

test("an enricher is told which conversation it is, and one that throws costs nobody the prompt", async () => {
  const contexts: EnrichmentContext[] = []
  const watching = definePlugin({
    kind: "tool",
    name: "watching",
    tools: [],
    enrichPrompt(prompt: string, context: EnrichmentContext) {
      contexts.push(context)
      if (prompt === "two") throw new Error("broken")
      return { prompt }
    },
  })
  const { session, model } = await openAgent(["a", "b"], { plugins: [watching, enriching("sure")] })
  await session.send("one")
  await session.send("two")
  expect(contexts).toMatchObject([{ session: { id: session.id, turns: 0 } }, { session: { turns: 1 } }])
  expect(lastSaid(model, 1)).toBe("two +sure")
})

test("004-42: the @ of a file is gone when the model reads the prompt, and the person's words are whole", async () => {
  const { session, model } = await openWithFile(["It is a list."])
  await session.send("What is in @list.txt, please?")
  const prompt = lastSaid(model, 0)
  expect(prompt).toContain("What is in list.txt, please?")
  expect(prompt).not.toContain("@list.txt")
})

test("004-43: a named file is not read into the prompt: the model is told of it and of the tool that reads it", async () => {
  const { session, model } = await openWithFile(["It is a list."])
  await session.send("What is in @list.txt, please?")
  const prompt = lastSaid(model, 0)
  expect(prompt).not.toContain("one egg")
  expect(prompt).toMatch(/list\.txt[^]*(readFile|bytes|B)/)
})

async function openWithFile(script: readonly string[]) {
  const root = createFolder()
  writeFileSync(join(root, "list.txt"), "one egg\n")
  return openAgent(script, { plugins: [createMultimodalPlugin({ root })] })
}
