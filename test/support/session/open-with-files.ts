import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { createFileSessionPlugin } from "../../../src/builtin/session/file-session-plugin.ts"
import type { SessionDirectory } from "../../../src/plugin/sessions-port.ts"
import { createFolder } from "../workplace.ts"
import { type AgentOptions, openAgent } from "./open-agent.ts"

/** An agent whose conversations are kept in files below `root`. */
export async function openWithFiles(script: readonly string[], options: AgentOptions = {}) {
  const root = createFolder()
  const sessionPlugin = (directory: SessionDirectory) => createFileSessionPlugin({ directory, workingDirectory: root })
  const files = (): string[] => {
    const path = join(root, ".meanwhile/sessions")
    return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(".json")) : []
  }
  return { ...(await openAgent(script, { sessionPlugin, ...options })), files, root }
}

export const talk = (count: number): string[] => Array.from({ length: count }, (_, index) => `answer ${index + 1}`)
