import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runToEnd } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("/context says which instructions of the folder agents have, and `meanwhile trust` lets them have them", async () => {
  const directory = createFolder()
  writeFileSync(join(directory, "AGENTS.md"), "Answer in Dutch.")
  const meanwhile = (words: readonly string[], input = "") => runToEnd({ directory, arguments: words }, input)

  const before = await meanwhile([], "/context\n")
  expect(before.stdout).not.toContain("Instructions:")
  expect(`${before.stdout}${before.stderr}`).toContain("Agents do not read AGENTS.md, because you have not trusted it.")

  expect((await meanwhile(["trust"])).stdout).toContain("  AGENTS.md\n")
  const after = await meanwhile([], "/context\n")
  expect(after.stdout).toContain("Instructions: AGENTS.md\n")
  expect(`${after.stdout}${after.stderr}`).not.toContain("do not read")

  expect((await meanwhile(["trust", "list"])).stdout).toContain(`${join(directory, "AGENTS.md")}  1 file, since `)
  await meanwhile(["trust", "revoke", "AGENTS.md"])
  expect((await meanwhile([], "/context\n")).stdout).not.toContain("Instructions:")
})
