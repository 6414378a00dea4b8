import { isAbsolute, resolve } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { createBackupStore } from "./backup-store.ts"
import { createChangeTools } from "./change-tools.ts"
import { createReadFile } from "./read-file.ts"
import { createWorkingFiles } from "./working-files.ts"
import { createWorkingRoot } from "./working-root.ts"

export interface FileEditPluginOptions {
  /** Absolute. Nothing outside is read or written. */
  readonly root: string
  /** Absolute. Where the old content of changed files is kept; inside the root, no tool reaches it. */
  readonly backupDirectory: string
  /** Further paths that are read but never written, absolute or from the root. */
  readonly protectedPaths?: readonly string[]
  /** How many changes of one file can be taken back. Default 20. */
  readonly backupsPerFile?: number
}

/** Reads and changes the files of one folder. */
export function createFileEditPlugin(options: FileEditPluginOptions): ToolPlugin {
  const { root, backupDirectory, protectedPaths = [], backupsPerFile = 20 } = options
  for (const path of [root, backupDirectory]) {
    if (isAbsolute(path)) continue
    throw new MeanwhileError("invalid_input", `The file_edit plugin takes absolute folders only, not "${path}".`, {
      path,
    })
  }
  const workingRoot = createWorkingRoot(root, {
    privatePaths: [backupDirectory],
    protectedPaths: protectedPaths.map((path) => resolve(root, path)),
  })
  const files = createWorkingFiles(workingRoot, createBackupStore(backupDirectory, Math.max(1, backupsPerFile)))
  return defineBuiltin({
    kind: "tool",
    name: "file_edit",
    tools: [createReadFile(files), ...createChangeTools(files)],
    autoApprovedTools: ["readFile"],
    systemInstructions:
      "Read a file with readFile before you change it. Prefer updateFile with old_text and new_text over writing a " +
      "whole file again. Every change of these tools can be taken back with undoFileChange.",
  })
}
