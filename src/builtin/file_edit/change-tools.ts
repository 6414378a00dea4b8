import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import type { JsonObject } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { defineTool, handBack, type Tool, type ToolReturn } from "../../plugin/tool.ts"
import { measureChange, toDiff, toShortDiff } from "./file-diff.ts"
import { hashOf } from "./file-state.ts"
import { requireText, toText } from "./text-content.ts"
import { contentInput, pathInput } from "./tool-input.ts"
import {
  type Changer,
  type DecideContent,
  type FoundFile,
  type PlannedChange,
  toMissing,
  type WorkingFiles,
} from "./working-files.ts"

/** The tools that change one file. A person sees the change as a diff first; the answer says how large it was. */
export function createChangeTools(files: WorkingFiles): readonly Tool[] {
  return [createUpdateFile(files), createWriteNewFile(files), createRemoveFile(files), createUndoFileChange(files)]
}

const updateInput = lazily(() =>
  z
    .strictObject({
      path: pathInput(),
      new_content: contentInput().optional().describe("The whole new content. Not together with old_text."),
      old_text: contentInput().min(1).optional().describe("A text that occurs exactly once in the file."),
      new_text: contentInput().optional().describe("What comes instead of old_text."),
    })
    .refine(({ new_content, old_text, new_text }) => {
      const isWhole = new_content !== undefined
      const isEdit = old_text !== undefined && new_text !== undefined
      return isWhole ? old_text === undefined && new_text === undefined : isEdit
    }, "give either new_content, or both old_text and new_text")
    .refine(
      ({ old_text, new_text }) => old_text === undefined || old_text !== new_text,
      "new_text is the same as old_text",
    ),
)

type UpdateInput = z.infer<ReturnType<typeof updateInput>>

/**
 * `retry` after a crash: the file has its old content or its new one, and a change that is already in place, which its
 * backup shows, is not made again.
 */
function createUpdateFile(files: WorkingFiles): Tool {
  return defineTool({
    name: "updateFile",
    background: { mode: "never" },
    description:
      "Changes a text file that exists: one place of it (old_text, new_text), which is better for small changes, or " +
      "the whole of it (new_content). Line ends are written as given. Can be taken back with undoFileChange.",
    input: updateInput(),
    title: ({ path }) => `update ${path}`,
    effects: ["write"],
    ...changing(files, toUpdate),
    run: async (input, context) => {
      const decide: DecideContent = (found) => {
        files.requireUnchanged(context.session, found)
        return toUpdate(input)(found)
      }
      return toChangeAnswer(await files.change(input.path, context, decide))
    },
  })
}

/** `retry` after a crash: a file that already has exactly this content is what was asked for. */
function createWriteNewFile(files: WorkingFiles): Tool {
  return defineTool({
    name: "writeNewFile",
    background: { mode: "never" },
    description:
      "Writes a text file that does not exist yet, and the folders it needs. Can be taken back with undoFileChange.",
    input: z.strictObject({
      path: pathInput(),
      content: contentInput().describe("The whole content, as it is written."),
    }),
    title: ({ path }) => `write ${path}`,
    effects: ["write"],
    ...changing(files, toNewFile),
  })
}

/** `retry` after a crash: a file whose last change was its removal is gone as asked for. */
function createRemoveFile(files: WorkingFiles): Tool {
  return defineTool({
    name: "removeFile",
    background: { mode: "never" },
    description: "Removes one file; folders stay. Can be taken back with undoFileChange.",
    input: z.strictObject({ path: pathInput() }),
    title: ({ path }) => `remove ${path}`,
    effects: ["delete"],
    ...changing(files, () => decideToRemove),
  })
}

/** `fail` after a crash: made twice, it would take two changes back. */
function createUndoFileChange(files: WorkingFiles): Tool {
  return defineTool({
    name: "undoFileChange",
    background: { mode: "never" },
    description:
      "Takes back the last change that these tools made to a file: its old content, a removed file, or no file where " +
      "one was written. Again, and it takes back the one before.",
    input: z.strictObject({ path: pathInput() }),
    title: ({ path }) => `undo the last change of ${path}`,
    effects: ["write", "delete"],
    ...files.byPath,
    onCrash: "fail",
    preview: async ({ path }) => toDiff(await files.planUndo(path)),
    run: async ({ path }, context) => {
      const undone = await files.undo(path, context)
      return toChangeAnswer(undone, { diff: await toShortDiff(undone) })
    },
  })
}

/** The common part of the tools whose change may be made twice. */
function changing<Input extends { readonly path: string }>(
  files: WorkingFiles,
  toDecision: (input: Input) => DecideContent,
) {
  return {
    ...files.byPath,
    onCrash: "retry",
    preview: async (input: Input) => toDiff(await files.plan(input.path, toDecision(input))),
    run: async (input: Input, context: Changer) =>
      toChangeAnswer(await files.change(input.path, context, toDecision(input))),
  } as const
}

/** The answer of a tool about a change it made. `more` is added to the payload. */
async function toChangeAnswer(change: PlannedChange, more: JsonObject = {}): Promise<ToolReturn> {
  const { place, before, after } = change
  const isSame = (before?.hash ?? null) === (after ? hashOf(after) : null)
  const status = isSame ? "unchanged" : !after ? "removed" : before ? "updated" : "created"
  const size = isSame ? undefined : await measureChange(change)
  const lines = size ? ` (+${size.addedLines} -${size.removedLines} lines)` : ""
  const digest = isSame ? `${place.path} is already so: nothing changed` : `${status} ${place.path}${lines}`
  const payload = { path: place.path, status, ...size, ...more }
  return handBack({ digest: [digest], facts: {}, artifacts: [], nextSteps: [], payload })
}

function toNewFile({ content }: { readonly path: string; readonly content: string }): DecideContent {
  return ({ place, before }) => {
    const bytes = Buffer.from(content)
    if (!before || before.bytes.equals(bytes)) return bytes
    const message = `"${place.path}" exists already. Read it, then change it with updateFile, or write another file.`
    throw new MeanwhileError("invalid_input", message, { path: place.path })
  }
}

const decideToRemove: DecideContent = async ({ place, before, lastChange }) => {
  if (!before && (await lastChange()).state !== "in_place") throw toMissing(place)
  return undefined
}

function toUpdate({ new_content: whole, old_text: oldText, new_text: newText }: UpdateInput): DecideContent {
  return async (found) => {
    const { place, before } = found
    if (!before) throw toMissing(place)
    const text = requireText(before.bytes, place.path)
    if (whole !== undefined) return Buffer.from(whole)
    const edit = { oldText: oldText ?? "", newText: newText ?? "" }
    return (await isAlreadyMade(edit, text, found)) ? before.bytes : Buffer.from(applyEdit(text, edit, place.path))
  }
}

/** True if the last change of this file was this edit: a crash, or a model that forgot, has repeated the call. */
async function isAlreadyMade(edit: TextEdit, text: string, { lastChange }: FoundFile): Promise<boolean> {
  const last = await lastChange()
  if (last.state !== "in_place" || !last.previous) return false
  const previous = toText(last.previous.bytes)
  return previous !== undefined && leadsTo(previous, edit, text)
}

/** One place of a text, and its replacement. */
interface TextEdit {
  readonly oldText: string
  readonly newText: string
}

/** Refuses unless the old text occurs exactly once. `path` is for the refusal. */
function applyEdit(text: string, edit: TextEdit, path: string): string {
  const { oldText, newText } = toLineEndsOf(text, edit)
  const start = text.indexOf(oldText)
  if (start < 0) {
    const message = `old_text does not occur in "${path}". Read the file and copy it exactly, with its spaces.`
    throw new MeanwhileError("invalid_input", message, { path })
  }
  if (text.includes(oldText, start + 1)) {
    const message = `old_text occurs more than once in "${path}". Add lines before or after it until it occurs once.`
    throw new MeanwhileError("invalid_input", message, { path })
  }
  return text.slice(0, start) + newText + text.slice(start + oldText.length)
}

/** True if exactly this edit turns the one text into the other. */
function leadsTo(before: string, edit: TextEdit, after: string): boolean {
  try {
    return applyEdit(before, edit, "") === after
  } catch {
    return false
  }
}

/** Models write `\n`. In a file whose lines all end in `\r\n`, the edit gets those line ends. */
function toLineEndsOf(text: string, edit: TextEdit): TextEdit {
  const isForeign = text.includes("\r\n") && !/(?<!\r)\n/.test(text) && !edit.oldText.includes("\r")
  if (!isForeign) return edit
  const toCrlf = (part: string): string => part.replace(/\r?\n/g, "\r\n")
  return { oldText: toCrlf(edit.oldText), newText: toCrlf(edit.newText) }
}
