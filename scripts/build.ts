import { execFileSync } from "node:child_process"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.ts"
import { keepPublicDeclarations } from "./public-declarations.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const PROGRAM = { "cli/main": "src/cli/main.ts", "needed-node": "src/needed-node.ts" }
const LIBRARY = {
  index: "src/index.ts",
  plugins: "src/plugins.ts",
  engines: "src/engines.ts",
  testing: "src/testing.ts",
  "engine/suite/testing-engine": "src/engine/suite/testing-engine.ts",
}
/** An older Node must be able to read the code, or it could not say that it is too old. */
const OLDEST_READER = "node18"
/** What the compiler puts in place of `using` for such a Node. */
const USING = "@oxc-project/runtime/helpers/usingCtx"
const [folder = join(root, "dist")] = process.argv.slice(2)
await build(resolve(folder))

/**
 * Builds the published package: declarations by the compiler, and few files of code instead of hundreds. The library and
 * the program share their code: a plugin that imports the library gets the modules that the program runs.
 */
async function build(outDir: string): Promise<void> {
  rmSync(outDir, { recursive: true, force: true })
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  const options = ["-p", join(root, "tsconfig.build.json"), "--outDir", outDir]
  execFileSync(process.execPath, [compiler, ...options], { stdio: "inherit" })
  keepPublicDeclarations(outDir, Object.keys(LIBRARY))
  for (const entry of Object.keys(LIBRARY))
    prepend(join(outDir, `${entry}.d.ts`), '/// <reference lib="esnext.disposable" />\n')
  await bundle({ ...PROGRAM, ...LIBRARY }, outDir, { target: OLDEST_READER, dependencies: [USING] })
  // The first module that an entry loads, on the line of the first of its own: it says which Node is needed.
  for (const entry of Object.keys(LIBRARY)) {
    const path = join(outDir, `${entry}.js`)
    prepend(path, `import ${JSON.stringify(toImport(path, join(outDir, "needed-node.js")))};`)
  }
  chmodSync(join(outDir, "cli/main.js"), 0o755)
}

function prepend(path: string, text: string): void {
  writeFileSync(path, `${text}${readFileSync(path, "utf8")}`)
}

function toImport(from: string, to: string): string {
  return relative(dirname(from), to).replace(/^(?!\.)/, "./")
}
