import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { toChangeAnswer } from "./change-answer.ts"
import { toDiff } from "./file-diff.ts"
import { contentInput, pathInput } from "./tool-input.ts"
import type { DecideContent, WorkingFiles } from "./working-files.ts"

/** `retry` after a crash: a file that already has exactly this content is what was asked for. */
export function createWriteNewFile(files: WorkingFiles): Tool {
  return defineTool({
    name: "writeNewFile",
    description:
      "Writes a text file that does not exist yet, and the folders it needs. Can be taken back with undoFileChange.",
    input: z.strictObject({
      path: pathInput(),
      content: contentInput().describe("The whole content, as it is written."),
    }),
    title: ({ path }) => `write ${path}`,
    effects: ["write"],
    pin: files.pin,
    isHere: files.isHere,
    folderOf: files.folderOf,
    onCrash: "retry",
    preview: async ({ path, content }) => toDiff(await files.plan(path, toDecision(content))),
    run: async ({ path, content }, { session }) =>
      toChangeAnswer(await files.change(path, session, toDecision(content))),
  })
}

function toDecision(content: string): DecideContent {
  return ({ place, before }) => {
    const bytes = Buffer.from(content)
    if (!before || before.bytes.equals(bytes)) return bytes
    const message = `"${place.path}" exists already. Read it, then change it with updateFile, or write another file.`
    throw new MeanwhileError("invalid_input", message, { path: place.path })
  }
}
