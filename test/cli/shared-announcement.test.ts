import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createIdFiles } from "../../src/cli/id-files.ts"
import { createSessionLine } from "../../src/cli/chat/session-line.ts"
import { createSharedAnnouncement } from "../../src/cli/chat/shared-announcement.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { TaskId } from "../../src/task/id.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

/** A store with one conversation, and chats of it in as many folders as are opened. */
async function openConversation() {
  const gated = createGatedTool()
  const plugins = [definePlugin({ kind: "tool", name: "test", tools: [gated.tool] })]
  const dataDirectory = join(createFolder(), "data")
  const model = createScriptedModel(["Hello."])
  const runtime = await openTestRuntime({ dataDirectory, model, plugins })
  onTestFinished(() => runtime.close())
  const session = await runtime.createSession()
  await session.send("Hello.")
  return {
    conversation: session.id,
    async end(of: typeof session.id | null) {
      const number = gated.calls.length + 1
      const { id } = await runtime.tasks.start({ tool: "gated", input: {}, session: of })
      ;(await gated.call(number)).finish()
      const { task } = await runtime.tasks.result(id, { waitMs: 10_000 })
      if (!("endedAt" in task)) throw new Error("It has not ended.")
      return task
    },
    remove: () => runtime.tasks.clear({}),
    openIn(folder: string) {
      const promised = createIdFiles<TaskId>(folder)
      return createSharedAnnouncement({ meanwhile: runtime, promised, lineOf: createSessionLine(runtime) })
    },
  }
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

test("what ended in a conversation is missed until one of its chats has announced it, whichever folder that is in", async () => {
  const { conversation, end, openIn } = await openConversation()
  const [first, second] = [openIn(createFolder()), openIn(createFolder())]
  const ended = await end(conversation)
  expect(idsOf(await second.missed(conversation))).toEqual([ended.id])
  first.remember(ended)
  second.remember(ended)
  await Promise.all([first.kept(), second.kept()])
  expect(await openIn(createFolder()).missed(conversation)).toEqual([])
})

test("what belongs to no conversation is missed where its end was promised, until it was announced or removed", async () => {
  const { conversation, end, openIn, remove } = await openConversation()
  const folder = createFolder()
  const [ended, removed] = [await end(null), await end(null)]
  for (const { id } of [ended, removed]) openIn(folder).promise(id)
  expect(idsOf(await openIn(folder).missed(conversation))).toEqual([ended.id, removed.id])
  expect(await openIn(createFolder()).missed(conversation)).toEqual([])
  openIn(folder).remember(ended)
  expect(idsOf(await openIn(folder).missed(conversation))).toEqual([removed.id])
  await remove()
  expect(await openIn(folder).missed(conversation)).toEqual([])
  expect(openIn(folder).isPromised(removed.id)).toBe(false)
})
