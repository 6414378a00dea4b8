import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime, type Runtime } from "../../src/app.ts"
import { mcpConfigSchema } from "../../src/builtin/mcp/mcp-config.ts"
import { createMcpPlugin } from "../../src/builtin/mcp/mcp-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createEmbeddedEngine } from "../../src/engine/embedded/engine.ts"
import type { Message } from "../../src/plugin/message.ts"
import { allowAll } from "../../src/runner/call/permission.ts"
import type { SessionId } from "../../src/task/id.ts"
import { createLife, createMortalEngine, type Life } from "../chaos/mortal-engine.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { startSecondGenerationServer } from "./second-generation-server.ts"

const SESSION = "session-turn" as SessionId

test("a call that a crash cut off in the middle of a turn is not made again when its tool may not be repeated", async () => {
  const server = await startSecondGenerationServer()
  const folder = createFolder()
  const heard: (readonly Message[])[] = []
  const first = await begin(folder, server.url, 0, heard)
  void (await first.runtime.createSession({ id: SESSION })).send("Do it.").catch(() => undefined)
  await eventually("the call arrives", () => server.calls.get("hang"))
  first.life.end()
  await begin(folder, server.url, 1, heard)
  await eventually("the model is told", () => heard.length > 1)
  expect(JSON.stringify(heard.at(-1)?.at(-1))).toContain("It was interrupted")
  expect(server.calls.get("hang")).toBe(1)
})

async function begin(
  folder: string,
  url: string,
  number: number,
  heard: (readonly Message[])[],
): Promise<{ readonly runtime: Runtime; readonly life: Life }> {
  const life = createLife(number)
  const engine = await createEmbeddedEngine({
    path: join(folder, "store.sqlite"),
    holder: { life: number },
    isHolderAlive: (data) => data["life"] === number,
  })
  onTestFinished(() => engine.close())
  const config = mcpConfigSchema.parse({ mcpServers: { fixture: { url } } })
  const runtime = await createRuntime({
    model: createScriptedModel([
      ({ messages }) => {
        heard.push(messages)
        return messages.at(-1)?.role === "tool" ? "So be it." : { calls: [{ tool: "mcp__fixture__hang", input: {} }] }
      },
    ]),
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
