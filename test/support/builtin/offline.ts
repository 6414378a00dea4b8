import { type Message } from "../../../src/plugin/message.ts"
import type { ModelRequest } from "../../../src/plugin/model.ts"
import { createOfflineProvider, type OfflineProviderOptions } from "../../../src/builtin/offline/offline-provider.ts"

export const tool = (name: string) => ({ name, description: "A tool.", inputSchema: { type: "object" } })

export async function generate(
  messages: readonly Message[],
  changes: Partial<ModelRequest> = {},
  options?: OfflineProviderOptions,
) {
  const model = await createOfflineProvider(options).connect("rules")
  const tools = [tool("run_command"), tool("readFile")]
  return model.generate({ system: "", messages, tools, signal: new AbortController().signal, ...changes })
}
