import { expect, onTestFinished, test } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import { MeanwhileError } from "../../src/base/error.ts"
import { callServerTool } from "../../src/builtin/mcp/call-tool.ts"
import { mcpConfigSchema } from "../../src/builtin/mcp/mcp-config.ts"
import { createServerLink } from "../../src/builtin/mcp/server-link.ts"
import { actFreely, type ToolContext } from "../../src/plugin/context.ts"
import { createFolder } from "../support/workplace.ts"
import { startSecondGenerationServer } from "../support/mcp/second-generation-server.ts"

type Moment = "as the server says so" | "while it is followed"

/** Calls a tool that becomes a task of the server, then stops the call; returns the status of the server's task. */
async function stopAtTask(reason: MeanwhileError, moment: Moment): Promise<string | undefined> {
  const server = await startSecondGenerationServer()
  const { mcpServers } = mcpConfigSchema.parse({ mcpServers: { fixture: { url: server.url } } })
  const link = createServerLink({
    name: "fixture",
    config: mcpServers["fixture"] as never,
    clock: systemClock,
    workingDirectory: createFolder(),
    environment: {},
    onToolsChanged: () => {},
    onLog: () => {},
  })
  onTestFinished(() => link.close())
  await link.start()
  const tool = link.tools().find(({ name }) => name === "slow_job")
  if (!tool) throw new Error("the server has no slow_job")
  const stop = new AbortController()
  const context = {
    signal: stop.signal,
    act: actFreely,
    progress: () => moment === "while it is followed" && stop.abort(reason),
    async step(key: string, effect: () => Promise<unknown>) {
      const result = await effect()
      if (key === "mcp-call" && moment === "as the server says so") stop.abort(reason)
      stop.signal.throwIfAborted()
      return result
    },
  } as unknown as ToolContext
  await expect(callServerTool({ link, tool, isIdempotent: false }, {}, context)).rejects.toBe(reason)
  return server.tasks.get("task-1")?.status
}

const MOMENTS: readonly Moment[] = ["as the server says so", "while it is followed"]

test.each(MOMENTS)("a call that is stopped %s stops the server's task too", async (moment) => {
  expect(await stopAtTask(new MeanwhileError("closed", "Stopped by person: enough"), moment)).toBe("cancelled")
})

test.each(MOMENTS)("a call that another worker takes over %s leaves that worker the server's task", async (moment) => {
  expect(await stopAtTask(new MeanwhileError("stale_claim", "it belongs to another worker"), moment)).toBe("working")
})
