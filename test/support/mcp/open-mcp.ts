import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { Clock } from "../../../src/base/clock.ts"
import { createMcpPlugin, type McpPlugin } from "../../../src/builtin/mcp/mcp-plugin.ts"
import { mcpConfigSchema } from "../../../src/builtin/mcp/mcp-config.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import type { ConversationPorts } from "../../../src/plugin/context.ts"
import type { PersonAnswer, Question } from "../../../src/plugin/person-port.ts"
import { createRegistry } from "../../../src/plugin/registry.ts"
import { createRunner, type Runner } from "../../../src/runner/runner.ts"
import { createLife, createMortalEngine } from "../chaos/mortal-engine.ts"

const EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"

/** The real reference server, of the first generation. How long it takes to start is up to the machine. */
export const everything = {
  command: process.execPath,
  args: [join(process.cwd(), EVERYTHING)],
  connectTimeoutMs: 120_000,
}

export interface OpenMcp {
  readonly plugin: McpPlugin
  readonly runner: Runner
  /** The questions that the person was asked. */
  readonly questions: readonly Question[]
  /** Simulates a crash: nothing is written from now on. Another runner can be opened on the same folder. */
  abandon(): void
}

export interface OpenMcpOptions {
  readonly answer?: (question: Question) => string
  readonly onToolsChanged?: () => void
  /** The clock by which the plugin tries a server again. */
  readonly clock?: Clock
  /** How many runners were abandoned on this folder before. */
  readonly lifeNumber?: number
}

/** A real runner on a real store in the folder, with the servers given. Closed after the test. */
export async function openMcp(
  directory: string,
  mcpServers: Readonly<Record<string, object>>,
  { answer, onToolsChanged, clock, lifeNumber = 0 }: OpenMcpOptions = {},
): Promise<OpenMcp> {
  const questions: Question[] = []
  const plugin = createMcpPlugin({
    config: mcpConfigSchema.parse({ mcpServers }),
    workingDirectory: directory,
    environment: { PATH: process.env["PATH"] ?? "" },
    ...(onToolsChanged && { onToolsChanged }),
    ...(clock && { clock }),
  })
  const registry = createRegistry()
  await registry.register(plugin)
  const engine = await createEmbeddedEngine({
    path: join(directory, "store.sqlite"),
    synchronous: "normal",
    holder: { life: lifeNumber },
    isHolderAlive: (data) => data["life"] === lifeNumber,
  })
  const life = createLife(lifeNumber)
  const ask = async (question: Question): Promise<PersonAnswer> => {
    questions.push(question)
    return answer
      ? { isAnswered: true, value: answer(question), by: "test" }
      : { isAnswered: false, reason: "nobody is there" }
  }
  const runner = await createRunner({
    engine: createMortalEngine(engine, life),
    registry,
    spoolDirectory: join(directory, "spool"),
    conversations: { portsOf: () => ({ person: { ask } }) as unknown as ConversationPorts },
  })
  onTestFinished(async () => {
    if (!life.isOver) await runner.close()
    await registry.close()
    await engine.close()
  })
  return { plugin, runner, questions, abandon: () => life.end() }
}
