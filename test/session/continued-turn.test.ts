import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { SessionPlugin } from "../../src/plugin/session-plugin.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"

test("a session plugin hears of a turn that was handed back at a shutdown and went on at the next start", async () => {
  const dataDirectory = join(createFolder(), "data")
  const completed: number[] = []
  const sessionPlugin = (): SessionPlugin =>
    definePlugin({
      kind: "session",
      name: "hears",
      save: async () => {},
      load: async () => undefined,
      list: async () => [],
      delete: async () => false,
      setDescription: async () => {},
      needsDescription: () => false,
      onTurnCompleted: ({ turns }) => void completed.push(turns),
    })
  const gate = Promise.withResolvers<void>()
  const slow = createScriptedModel([{ gate: gate.promise, text: "never said" }])
  const first = await createRuntime({ dataDirectory, sessionPlugin, model: slow })
  const session = await first.createSession()
  const sent = session.send("Go.").catch((error: unknown) => error)
  await eventually("the model is asked", () => slow.callCount === 1)
  await first.close()
  expect(await sent).toMatchObject({ code: "closed" })
  expect(completed).toEqual([])
  const second = await createRuntime({ dataDirectory, sessionPlugin, model: createScriptedModel(["Done."]) })
  onTestFinished(() => second.close())
  await eventually("the plugin hears of it", () => completed.length > 0)
  expect(completed).toEqual([1])
  expect((await second.sessions.load(session.id))?.messages).toHaveLength(2)
})
