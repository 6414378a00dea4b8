import { expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Message } from "../../src/plugin/message.ts"
import type { SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { beginLife } from "../support/mcp/mortal-runtime.ts"
import { startSecondGenerationServer } from "../support/mcp/second-generation-server.ts"

const SESSION = "session-turn" as SessionId

test("a call that a crash cut off in the middle of a turn is not repeated if its tool may not be", async () => {
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

function begin(folder: string, url: string, number: number, heard: (readonly Message[])[]) {
  const model = createScriptedModel([
    ({ messages }) => {
      heard.push(messages)
      return messages.at(-1)?.role === "tool" ? "So be it." : { calls: [{ tool: "mcp__fixture__hang", input: {} }] }
    },
  ])
  return beginLife({ folder, url, number, model })
}
