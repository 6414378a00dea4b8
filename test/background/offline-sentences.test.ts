import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createRuntime } from "../../src/app.ts"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"

test("the sentences of the offline model about tasks start, list, show and cancel one", async () => {
  const run = Promise.withResolvers<string>()
  const tool = defineTool({
    name: "run_command",
    description: "Runs.",
    input: z.object({ command: z.string() }),
    background: { mode: "after" },
    title: ({ command }) => command,
    run: (_, { signal }) => {
      signal.addEventListener("abort", () => run.reject(new Error("stopped")))
      return run.promise
    },
  })
  const runtime = await createRuntime({
    environment: {},
    permissions: allowAll,
    plugins: [definePlugin({ kind: "tool", name: "shell", tools: [tool] }), createBackgroundPlugin()],
  })
  onTestFinished(() => runtime.close())
  const session = await runtime.createSession()
  const say = async (text: string): Promise<string> => (await session.send(text)).text
  const started = await say("start `npm ci` in the background")
  const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool"] })
  const id = items[0]?.id.slice(0, 8) ?? ""
  expect(items).toHaveLength(1)
  expect(started).toContain(id)
  expect(await say("list background tasks")).toContain(id)
  expect(await say(`show task ${id}`)).toMatch(new RegExp(`${id}[^]*running|running[^]*${id}`))
  expect(await say(`cancel task ${id}`)).toContain(id)
  expect((await runtime.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("cancelled")
})
