import { isAbsolute } from "node:path"
import { definedVariables, type Variables } from "../../base/environment.ts"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { createRunCommand } from "./run-command.ts"

export interface ShellPluginOptions {
  /** Absolute. Commands run here unless a call names another directory. Default: this process's. */
  readonly workingDirectory?: string
  /** The whole environment of commands. Default: this process's search path, home, user, language and the like, no keys. */
  readonly environment?: Variables
  /** Folders to look for programs in, after those of PATH. */
  readonly extraPaths?: readonly string[]
  /** Default `/bin/sh`. */
  readonly shell?: string
}

/** Runs shell commands as tasks. */
export function createShellPlugin(options: ShellPluginOptions = {}): ToolPlugin {
  const { workingDirectory = process.cwd(), extraPaths = [], shell = "/bin/sh" } = options
  const environment = definedVariables(options.environment ?? toPlainEnvironment(process.env))
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

const PLAIN_VARIABLE = /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|TERM|LANG|LC_\w+)$/

/** Variables that a command needs to behave as in a terminal, and that hold no secret. */
function toPlainEnvironment(environment: Variables): Variables {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => PLAIN_VARIABLE.test(name)))
}
