import { fileURLToPath } from "node:url"
import { type OutputOptions, rolldown } from "rolldown"
import { bareBuiltins } from "./bare-builtins.ts"

/**
 * Names and lines stay as they are, for readers of a stack trace: when nobody catches an error, Node prints the line that
 * threw it. Leaving out comments saves memory; leaving out blanks would not make a start quicker.
 */
const OUTPUT: OutputOptions = {
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  comments: false,
}

export interface BundleOptions {
  /** The dependencies that become part of the program. Default: all are loaded from where they are installed. */
  readonly dependencies?: readonly string[]
  /** The oldest Node that can read the code. Default: the present one. */
  readonly target?: string
}

/** Bundles the entries, given by name and source file, into few files that share their code. */
export async function bundle(
  input: Readonly<Record<string, string>>,
  folder: string,
  { dependencies = [], target = "esnext" }: BundleOptions,
): Promise<void> {
  const bundled = await rolldown({
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    input,
    platform: "node",
    external: (id) => !/^([./\0]|node:)/.test(id) && !dependencies.includes(id),
    transform: { target },
    plugins: [bareBuiltins()],
  })
  await bundled.write({ ...OUTPUT, dir: folder })
  await bundled.close()
}
