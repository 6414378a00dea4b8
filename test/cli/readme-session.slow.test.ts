import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { README_PATH, readSession } from "../../scripts/terminal-session/readme.ts"
import { recordSession } from "../../scripts/terminal-session/story.ts"
import { createFolder } from "../support/workplace.ts"

test("the terminal session of the README is what the program shows", async () => {
  const directory = createFolder()
  const session = await recordSession({ directory, environment: { MEANWHILE_TEST: directory } })
  const hint = "when the program is right: npx node scripts/terminal-session.ts --write"
  expect(readSession(readFileSync(README_PATH, "utf8")), hint).toBe(session)
})
