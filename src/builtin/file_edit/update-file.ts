import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import type { SessionId } from "../../task/id.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { toChangeAnswer } from "./change-answer.ts"
import { toDiff } from "./file-diff.ts"
import type { SeenFiles } from "./seen-files.ts"
import { requireText, toText } from "./text-content.ts"
import { contentInput, pathInput } from "./tool-input.ts"
import { type DecideContent, type FoundFile, toMissing, type WorkingFiles } from "./working-files.ts"
import { MeanwhileError } from "../../base/error.ts"

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
export function createUpdateFile(files: WorkingFiles, seen: SeenFiles): Tool {
  return defineTool({
    name: "updateFile",
    description:
      "Changes a text file that exists: one place of it (old_text, new_text), which is better for small changes, or " +
      "the whole of it (new_content). Line ends are written as given. Can be taken back with undoFileChange.",
    input: updateInput(),
    title: ({ path }) => `update ${path}`,
    effects: ["write"],
    pin: files.pin,
    isHere: files.isHere,
    folderOf: files.folderOf,
    onCrash: "retry",
    preview: async (input) => toDiff(await files.plan(input.path, toDecision(input))),
    run: async (input, { session }) => {
      const decide = onlyIfUnchanged(toDecision(input), seen, session)
      return toChangeAnswer(await files.change(input.path, session, decide))
    },
  })
}

function onlyIfUnchanged(decide: DecideContent, seen: SeenFiles, session: SessionId | null): DecideContent {
  return (found) => {
    seen.requireUnchanged(session, found.place, found.before)
    return decide(found)
  }
}

function toDecision({ new_content: whole, old_text: oldText, new_text: newText }: UpdateInput): DecideContent {
  return async (found) => {
    const { place, before } = found
    if (!before) throw toMissing(place)
    const text = requireText(before.bytes, place.path)
    if (whole !== undefined) return Buffer.from(whole)
    const edit = { oldText: oldText ?? "", newText: newText ?? "" }
    return (await isAlreadyMade(edit, text, found)) ? before.bytes : Buffer.from(applyEdit(text, edit, place.path))
  }
}

/** The last change of this file was this one: a call that was repeated, by a crash or by a model that forgot. */
async function isAlreadyMade(edit: TextEdit, text: string, { lastChange }: FoundFile): Promise<boolean> {
  const last = await lastChange()
  if (last.state !== "in_place" || !last.previous) return false
  const previous = toText(last.previous.bytes)
  return previous !== undefined && leadsTo(previous, edit, text)
}

/** One place of a text, and what comes instead of it. */
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

/** Models write `\n`. In a file whose lines end in `\r\n` that is meant, and put in again. */
function toLineEndsOf(text: string, edit: TextEdit): TextEdit {
  const isForeign = text.includes("\r\n") && !/(?<!\r)\n/.test(text) && !edit.oldText.includes("\r")
  if (!isForeign) return edit
  const toCrlf = (part: string): string => part.replace(/\r?\n/g, "\r\n")
  return { oldText: toCrlf(edit.oldText), newText: toCrlf(edit.newText) }
}
