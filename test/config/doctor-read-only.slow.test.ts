import { execFile } from "node:child_process"
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { builtProgram } from "../support/built-program.ts"
import { createOwnEnvironment } from "../support/own-environment.ts"
import { createFolder } from "../support/workplace.ts"

const NOBODY = 65_534

interface Finding {
  readonly check: string
  readonly status: string
  readonly text: string
  readonly fix: string | null
}

/** The doctor in a project that its user may read and not write. Root may write everything: then another user looks. */
async function examine(...words: readonly string[]) {
  const root = createFolder()
  const directory = join(root, "project")
  const data = join(root, "data")
  for (const folder of [directory, data, join(root, "home")]) mkdirSync(folder)
  const uid = process.getuid?.() === 0 ? NOBODY : undefined
  chmodSync(root, 0o755)
  for (const folder of [directory, data]) chmodSync(folder, 0o555)
  const env = createOwnEnvironment(join(root, "home"))
  const options = { cwd: directory, env, ...(uid !== undefined && { uid, gid: uid }) }
  const arguments_ = [builtProgram("cli/main"), "doctor", "--json", ...words.map((word) => word.replace("DATA", data))]
  const printed = await new Promise<string>((resolve) => {
    execFile(process.execPath, arguments_, options, (_error, stdout, stderr) => resolve(stdout || stderr))
  })
  const findings = JSON.parse(printed) as readonly Finding[]
  return { directory, data, find: (check: string) => findings.find((finding) => finding.check === check) }
}

test("the doctor says why a folder of the project cannot be written, where the data folder would lie, and what helps", async () => {
  const { directory, find } = await examine()
  expect(find("data folder")).toMatchObject({
    status: "problem",
    text: expect.stringMatching(new RegExp(`cannot be used: ${directory} (?:is yours|belongs to root).*555`)),
    fix: expect.stringMatching(
      /(?:chmod u\+rwx|sudo chown -R \d+) .*project\. Or name another folder: --data-dir FOLDER$/,
    ),
  })
  expect(find("project folder")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("Agents can change nothing in the folder of the project:"),
    fix: expect.stringMatching(/chmod|chown/),
  })
})

test("the doctor says why a data folder that is there cannot be written", async () => {
  const { data, find } = await examine("--data-dir", "DATA")
  expect(find("data folder")).toMatchObject({
    status: "problem",
    text: expect.stringContaining(`The data folder ${data} cannot be used: ${data} `),
    fix: expect.stringMatching(/chmod|chown/),
  })
})
