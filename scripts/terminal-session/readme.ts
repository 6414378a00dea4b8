import { fileURLToPath } from "node:url"

export const README_PATH = fileURLToPath(new URL("../../README.md", import.meta.url))

const BLOCK =
  /(?<begin><!-- terminal session -->\n+```text\n)(?<session>[^]*?)(?<end>\n```\n+<!-- end of terminal session -->)/

/** What the README shows as a terminal session; undefined when it shows none. */
export function readSession(readme: string): string | undefined {
  return BLOCK.exec(readme)?.groups?.["session"]
}

export function withSession(readme: string, session: string): string {
  if (!BLOCK.test(readme))
    throw new Error("README.md has no place for the terminal session: its two comments are missing.")
  return readme.replace(BLOCK, (_, begin: string, _before: string, end: string) => `${begin}${session}${end}`)
}
