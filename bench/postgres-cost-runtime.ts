import type { LanguageModelV4 } from "@ai-sdk/provider"
import { z } from "zod"
import { createPostgresEngine } from "../src/engine/postgres/engine.ts"
import { createRuntime, type Runtime } from "../src/index.ts"
import { definePlugin } from "../src/plugin/define-plugin.ts"
import { defineTool } from "../src/plugin/tool.ts"
import { noOp } from "./tools.ts"
import { LOOKUP_TOOL, lookUpWeather } from "./turn-model.ts"

/** A runtime with the tool that turns call and the tool that tasks run. */
export async function openCostRuntime(url: string, model: LanguageModelV4): Promise<Runtime> {
  const input = z.object({ city: z.string() })
  const lookUp = defineTool({ name: LOOKUP_TOOL, description: "The weather.", input, run: lookUpWeather })
  const plugin = definePlugin({ kind: "tool", name: "work", tools: [lookUp, noOp] })
  const background = { maxConcurrentTasks: 200, maxConcurrentPerPlugin: 200 }
  const engine = await createPostgresEngine({ url })
  return createRuntime({ engine, model, plugins: [plugin], background })
}
