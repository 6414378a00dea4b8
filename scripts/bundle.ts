import { fileURLToPath } from "node:url"
import { type OutputOptions, rolldown } from "rolldown"
import { bareBuiltins } from "./bare-builtins.ts"

/** Of the dependencies, only these start faster when they are part of the program than when they are installed beside it. */
const BUNDLED = new Set(["@opentelemetry/api", "commander"])

/** Bundles the entries, given by name and source file, into few files that share their code. */
export async function bundle(
  input: Readonly<Record<string, string>>,
  folder: string,
  output: OutputOptions,
): Promise<void> {
  const bundled = await rolldown({
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    input,
    platform: "node",
    external: isExternal,
    plugins: [bareBuiltins()],
  })
  await bundled.write({ dir: folder, format: "esm", chunkFileNames: "chunks/[name]-[hash].js", ...output })
  await bundled.close()
}

function isExternal(id: string): boolean {
  return !/^([./\0]|node:)/.test(id) && !BUNDLED.has(id)
}
