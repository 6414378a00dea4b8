import { join } from "node:path"
import { onTestFinished } from "vitest"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/app.ts"
import { mcpConfigSchema } from "../../../src/builtin/mcp/mcp-config.ts"
import { createMcpPlugin } from "../../../src/builtin/mcp/mcp-plugin.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import { createLife, createMortalEngine, type Life } from "../chaos/mortal-engine.ts"

export interface MortalRuntimeOptions extends Pick<RuntimeOptions, "model" | "takesWork"> {
  readonly folder: string
  /** The URL of the MCP server. */
  readonly url: string
  /** The number of this life on the folder. */
  readonly number: number
}

/** A runtime with one MCP server, whose process can end at any moment as far as its store is concerned. */
export async function beginLife(
  options: MortalRuntimeOptions,
): Promise<{ readonly runtime: Runtime; readonly life: Life }> {
  const { folder, url, number, ...rest } = options
  const life = createLife(number)
  const engine = await createEmbeddedEngine({
    path: join(folder, "store.sqlite"),
    holder: { life: number },
    isHolderAlive: (data) => data["life"] === number,
  })
  onTestFinished(() => engine.close())
  const config = mcpConfigSchema.parse({ mcpServers: { fixture: { url } } })
  const runtime = await createRuntime({
    ...rest,
    dataDirectory: folder,
    environment: {},
    engine: createMortalEngine(engine, life),
    plugins: [createMcpPlugin({ config, workingDirectory: folder, environment: {} })],
    permissions: allowAll,
  })
  onTestFinished(async () => {
    if (!life.isOver) await runtime.close()
  })
  return { runtime, life }
}
