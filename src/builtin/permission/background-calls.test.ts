import { expect, it } from "vitest"
import { z } from "zod"
import type { ToolContext } from "../../plugin/context.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { defineTool } from "../../plugin/tool.ts"
import { createSessionId } from "../../task/id.ts"
import { createPermissionPlugin } from "./permission-plugin.ts"

const SESSION = createSessionId()
const { signal } = new AbortController()
const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  input: z.object({ path: z.string() }),
  effects: ["delete"],
  run: async () => null,
})

/** Opens the plugin with a person at the terminal who answers nothing. */
function open(policy = {}) {
  const shown: Question[] = []
  const ask = (question: Question) => {
    shown.push(question)
    return Promise.withResolvers<PersonAnswer>().promise
  }
  const { permission, plugin } = createPermissionPlugin({
    policy,
    channel: () => ({ name: "terminal", ask }),
    autoApproved: () => [],
    findTool: () => ({ plugin: "files", tool: remove }),
  })
  const input = { path: "a" }
  const decide = (isBackground: boolean) =>
    permission.decide({
      call: { tool: "remove", input, session: SESSION },
      plugin: "files",
      tool: "remove",
      input,
      definition: remove,
      isInBackground: async () => isBackground,
      beforeAsking: async () => {},
      signal,
    })
  return { shown, decide, plugin }
}

it("D8. a call in the background waits in the inbox with an expiry, while somebody is there for other things", async () => {
  const { shown, decide } = open({ approvalExpirySeconds: 60 })
  const foreground = decide(false)
  await expect.poll(() => shown.length).toBe(1)
  expect(await decide(true)).toMatchObject({
    allowed: "ask",
    question: { kind: "approval", text: expect.stringContaining("remove") },
    expiresInMs: 60_000,
  })
  expect(shown).toHaveLength(1)
  expect(foreground).toBeInstanceOf(Promise)
})

it("a call in the background that the policy allows or denies is not asked about", async () => {
  const denied = open({ rules: [{ tool: "remove", decision: "deny", reason: "never" }] })
  expect(await denied.decide(true)).toMatchObject({ allowed: false })
  const allowed = open({ rules: [{ tool: "remove", decision: "allow" }] })
  expect(await allowed.decide(true)).toEqual({ allowed: true })
})

it("asking ahead from the background does not wait behind a question that is before a person", async () => {
  const { shown, decide, plugin } = open()
  void decide(false)
  await expect.poll(() => shown.length).toBe(1)
  const person = { isInbox: async () => true, ask: async () => ({ isAnswered: true, value: "yes", by: "ada" }) }
  const context = { session: SESSION, signal, person } as unknown as ToolContext
  const asked = { tool: "remove", reason: "tidying" }
  expect(await plugin.tools[0]?.run(asked, context)).toMatchObject({ isGranted: true })
  expect(await decide(true)).toEqual({ allowed: true })
})
