import { z } from "zod"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { toChangeAnswer } from "./change-answer.ts"
import { toDiff } from "./file-diff.ts"
import { pathInput } from "./tool-input.ts"
import type { WorkingFiles } from "./working-files.ts"

/** `fail` after a crash: made twice, it would take two changes back. */
export function createUndoFileChange(files: WorkingFiles): Tool {
  return defineTool({
    name: "undoFileChange",
    description:
      "Takes back the last change that these tools made to a file: its old content, a removed file, or no file where " +
      "one was written. Again, and it takes back the one before.",
    input: z.strictObject({ path: pathInput() }),
    title: ({ path }) => `undo the last change of ${path}`,
    effects: ["write", "delete"],
    pin: files.pin,
    isHere: files.isHere,
    folderOf: files.folderOf,
    onCrash: "fail",
    preview: async ({ path }) => toDiff(await files.planUndo(path)),
    run: async ({ path }, { session }) => {
      const undone = await files.undo(path, session)
      return toChangeAnswer(undone, { diff: await toDiff(undone) })
    },
  })
}
