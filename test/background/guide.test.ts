import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { createBackgroundPlugin, type VocabularyName } from "../../src/builtin/background/background-plugin.ts"

const guide = readFileSync("docs/guide/plugins/background.md", "utf8")

/** From the table below a vocabulary's heading: each tool, and whether it needs no permission. */
function rowsOf(vocabulary: VocabularyName): ReadonlyMap<string, boolean> {
  const [, section = ""] = guide.split(`\n## \`${vocabulary}\`\n`)
  const [own = ""] = section.split("\n## ")
  const rows = own.matchAll(/^\| `([\w.]+)` \|.*\| ?(yes)? \|$/gm)
  return new Map(Array.from(rows, ([, tool = "", yes]) => [tool, yes === "yes"]))
}

test.each(["meanwhile", "jaato", "opencode", "penguiflow"] as const)(
  "the guide lists the tools of %s, and which of them need no permission",
  (vocabulary) => {
    const { tools, autoApprovedTools = [] } = createBackgroundPlugin({ vocabulary })
    expect(rowsOf(vocabulary)).toEqual(new Map(tools.map(({ name }) => [name, autoApprovedTools.includes(name)])))
  },
)
