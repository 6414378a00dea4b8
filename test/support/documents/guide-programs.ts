import { globSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import type { PublishedEntry } from "./published.ts"

export interface GuideProgram {
  /** A file name, made of the guide's path and the block's place in the guide. */
  readonly name: string
  readonly source: string
}

/** The TypeScript of the guides, each block a program of its own. */
export function readGuidePrograms(root: string, entries: readonly PublishedEntry[]): readonly GuideProgram[] {
  return globSync("docs/guide/**/*.md", { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = ""], index) => ({
      name: `${toFileName(path)}-${index + 1}.ts`,
      source: /^import /m.test(block) ? block : `${toBeginning(block, entries)}${block}`,
    })),
  )
}

/** The programs that the guides show for another library, each of which imports this package. */
export function readForeignPrograms(root: string, packageName: string): readonly GuideProgram[] {
  const guide = readFileSync(join(root, "docs/guide/coming-from.md"), "utf8")
  return [...guide.matchAll(/```typescript\n([\s\S]*?)```/g)]
    .filter(([, block = ""]) => block.includes(` from "${packageName}"\n`))
    .map(([, source = ""], index) => ({ name: `foreign-${index + 1}.ts`, source }))
}

/** Two guides in different folders may have one name. */
function toFileName(path: string): string {
  return path
    .replace(/^docs\/|\.md$/g, "")
    .split(sep)
    .join("-")
}

/** Imports for a block without any: such a fragment gets what it uses of the package, a runtime and a session. */
function toBeginning(block: string, entries: readonly PublishedEntry[]): string {
  const words = new Set(block.match(/\b[a-zA-Z]\w*\b/g))
  const imports = entries.map(({ entry, values, types }) => {
    const used = [...values, ...types.map((name) => `type ${name}`)].filter((name) =>
      words.has(name.replace("type ", "")),
    )
    return `import { ${used.join(", ")} } from "${entry}"`
  })
  return [...imports, ...["runtime", "session"].filter((name) => words.has(name)).map(toDeclared), ""].join("\n")
}

function toDeclared(name: string): string {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return `declare const ${name}: import("meanwhile").${type}`
}
