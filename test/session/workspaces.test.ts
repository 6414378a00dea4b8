import { expect, test } from "vitest"
import type { WorkspaceId } from "../../src/task/id.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"

const OTHER = "other" as WorkspaceId

test.each(PLACES)("a session is not reached from another workspace, by whatever name (%s)", async (_, isKept) => {
  const { runtime, session } = await openAgent(["one"], { isKept })
  await session.send("between us")
  const { id } = session
  await expect(runtime.openSession(id, OTHER)).rejects.toMatchObject({ code: "not_found" })
  await expect(runtime.createSession({ id, workspace: OTHER })).rejects.toMatchObject({ code: "invalid_input" })
  await session.close()
  const made = await runtime.createSession({ id, workspace: OTHER })
  expect(made.history()).toEqual([])
  if (isKept) await expect(made.send("what was said?")).rejects.toMatchObject({ code: "not_found" })
})
