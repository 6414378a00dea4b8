import { z } from "zod"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { toChangeAnswer } from "./change-answer.ts"
import { toDiff } from "./file-diff.ts"
import { pathInput } from "./tool-input.ts"
import { type DecideContent, toMissing, type WorkingFiles } from "./working-files.ts"

/** `retry` after a crash: a file whose last change was its removal is gone as asked for. */
export function createRemoveFile(files: WorkingFiles): Tool {
  return defineTool({
    name: "removeFile",
    description: "Removes one file; folders stay. Can be taken back with undoFileChange.",
    input: z.strictObject({ path: pathInput() }),
    title: ({ path }) => `remove ${path}`,
    effects: ["delete"],
    pin: files.pin,
    isHere: files.isHere,
    folderOf: files.folderOf,
    onCrash: "retry",
    preview: async ({ path }) => toDiff(await files.plan(path, decideToRemove)),
    run: async ({ path }, { session }) => toChangeAnswer(await files.change(path, session, decideToRemove)),
  })
}

const decideToRemove: DecideContent = async ({ place, before, lastChange }) => {
  if (!before && (await lastChange()).state !== "in_place") throw toMissing(place)
  return undefined
}
