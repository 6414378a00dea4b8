import { isAbsolute } from "node:path"
import { definedVariables, type Variables } from "../../base/environment.ts"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { createRunCommand } from "./run-command.ts"

export interface ShellPluginOptions {
  /** Absolute. Where commands run unless a call names another directory. */
  readonly workingDirectory: string
  /** All that commands get to see of an environment: nothing is taken from Meanwhile's own. */
  readonly environment: Variables
  /** Folders to look for programs in, after those of PATH. */
  readonly extraPaths?: readonly string[]
  /** Default `/bin/sh`. */
  readonly shell?: string
}

/** Runs shell commands as tasks. */
export function createShellPlugin(options: ShellPluginOptions): ToolPlugin {
  const { workingDirectory, extraPaths = [], shell = "/bin/sh" } = options
  const environment = definedVariables(options.environment)
  for (const path of [workingDirectory, ...extraPaths]) {
    if (isAbsolute(path)) continue
    throw new MeanwhileError("invalid_input", `The shell plugin takes absolute paths only, not "${path}".`, { path })
  }
  return defineBuiltin({
    kind: "tool",
    name: "shell",
    tools: [createRunCommand({ workingDirectory, environment, extraPaths, shell })],
  })
}
