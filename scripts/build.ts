import { execFileSync } from "node:child_process"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
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
  const input = {
    "cli/main": "src/cli/main.ts",
    index: "src/index.ts",
    plugins: "src/plugins.ts",
    engines: "src/engines.ts",
    testing: "src/testing.ts",
    "engine/suite/testing-engine": "src/engine/suite/testing-engine.ts",
  }
  for (const entry of Object.keys(input)) referToNode(join(outDir, `${entry}.d.ts`))
  // These dependencies start faster when they are bundled, and no other package needs to share a copy of them.
  await bundle(input, outDir, { sourcemap: true, dependencies: ["@opentelemetry/api", "commander"] })
  chmodSync(join(outDir, "cli/main.js"), 0o755)
}

/** The compiler includes no types of packages by itself, and the declarations need those of Node. */
function referToNode(declaration: string): void {
  writeFileSync(declaration, `/// <reference types="node" />\n${readFileSync(declaration, "utf8")}`)
}
