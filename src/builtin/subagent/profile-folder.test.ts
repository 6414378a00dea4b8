import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../../test/support/workplace.ts"
import { readProfileFolder } from "./profile-folder.ts"

test("a profile whose front matter is never closed cannot be used, and the reason is given", async () => {
  const folder = createFolder()
  writeFileSync(join(folder, "good.md"), "---\ndescription: Good.\n---\nBe good.")
  writeFileSync(join(folder, "open.md"), "---\ndescription: Open.\ntools: []\nBe good.")
  expect(await readProfileFolder(folder)).toMatchObject({
    profiles: [{ name: "good", description: "Good.", instructions: "Be good." }],
    problems: [expect.stringMatching(/open\.md: its front matter is not closed/)],
  })
})
