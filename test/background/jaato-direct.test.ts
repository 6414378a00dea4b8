import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { openAgent, PLACES, resultsOf, resultText } from "../support/session/open-agent.ts"
import { echo } from "../support/tools.ts"

const CALL = { calls: [{ tool: "runCommand", input: { command: "echo direct" } }] }

test.each(PLACES)("a direct runCommand runs the command in the jaato vocabulary (%s)", async (_, isKept) => {
  const plugins = [createShellPlugin(), createBackgroundPlugin({ vocabulary: "jaato" })]
  const { session, events } = await openAgent([CALL, "Done."], { isKept, plugins })
  expect((await session.send("go")).text).toBe("Done.")
  const [result] = resultsOf(session.history())
  expect(result).toMatchObject({ tool: "runCommand", isError: false })
  expect(resultText(result)).toContain("direct")
  expect(events.find(({ type }) => type === "tool_call.ended")).toMatchObject({ isSuccess: true })
})

test("a tool that has that name itself is called by it", async () => {
  const own = definePlugin({ kind: "tool", name: "own", tools: [{ ...echo, name: "runCommand" }] })
  const { session } = await openAgent([CALL, "Done."], { plugins: [createShellPlugin(), own] })
  await session.send("go")
  expect(resultText(resultsOf(session.history())[0])).not.toBe("direct\n")
})

test("a session that is not offered the tool is not offered its other name", async () => {
  const { session } = await openAgent([CALL, "Done."], { plugins: [createShellPlugin()], session: { tools: [] } })
  await session.send("go")
  expect(resultText(resultsOf(session.history())[0])).toContain("There is no tool runCommand")
})
