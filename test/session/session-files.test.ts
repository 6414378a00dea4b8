import { expect, test } from "vitest"
import { createFileSessionPlugin } from "../../src/builtin/session/file-session-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { SessionPlugin } from "../../src/plugin/session-plugin.ts"
import type { SessionDirectory } from "../../src/plugin/sessions-port.ts"
import { createSessionId } from "../../src/task/id.ts"
import { openScripted } from "../support/session/open-agent.ts"
import { openWithFiles, talk } from "../support/session/open-with-files.ts"

test("004-26: a session plugin saves, loads, lists and deletes whole conversations", async () => {
  const { session, runtime } = await openWithFiles(talk(1))
  await session.send("hello")
  const [entry] = runtime.plugins.list({ kind: "session" })
  const plugin = entry?.plugin as SessionPlugin
  await plugin.save(await session.state())
  expect((await plugin.load(session.id))?.messages).toEqual(session.history())
  expect((await plugin.list()).map(({ id }) => id)).toEqual([session.id])
  expect([await plugin.delete(session.id), await plugin.load(session.id)]).toEqual([true, undefined])
})

test("004-32: at most so many conversations are kept in files, the oldest go", async () => {
  const { runtime, session, files } = await openWithFiles(talk(4), {
    sessionConfig: { maxKept: 2, checkpointAfterTurns: 1 },
  })
  await session.send("oldest")
  for (let count = 0; count < 3; count++) await (await runtime.createSession()).send("newer")
  expect(files()).toHaveLength(2)
  expect(files().join()).not.toContain(session.id)
})

test("004-59: a conversation kept in a file goes on in another runtime that never had it", async () => {
  const { session, root } = await openWithFiles(talk(1))
  await session.send("remember the milk")
  await session.close()
  const model = createScriptedModel(["The milk."])
  const sessionPlugin = (directory: SessionDirectory) => createFileSessionPlugin({ directory, workingDirectory: root })
  const { runtime } = await openScripted(model, { isKept: true, sessionPlugin })
  const here = await runtime.createSession({ id: createSessionId() })
  const opened = Promise.withResolvers<string>()
  await here.runCommand("resume", session.id, { switchTo: async (id) => opened.resolve(id) })
  const resumed = await runtime.openSession(await opened.promise)
  await resumed.send("what was it?")
  expect(model.requests[0]?.messages.map(textOf)).toEqual(["remember the milk", "answer 1", "what was it?"])
})
