import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

/**
 * Writes the worker of this version into one file, so that tests can run it beside later versions:
 * `node scripts/bundle-worker.ts FILE [CHECKOUT]`. The file does not contain packages.
 */
const [file = "", checkout = fileURLToPath(new URL("..", import.meta.url))] = process.argv.slice(2)
const bundle = await rolldown({
  cwd: resolve(checkout),
  input: join(resolve(checkout), "test/support/programs/crash-program.ts"),
  platform: "node",
  external: (id) => !/^([./\0]|node:)/.test(id),
})
await bundle.write({ file: resolve(file), format: "esm", codeSplitting: false, comments: false, minify: true })
await bundle.close()
