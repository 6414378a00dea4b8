import { unquote } from "./quoted-text.ts"
import { callingRule, type Rule, type Words } from "./rule.ts"

/** A path with spaces is quoted. */
const PATH = "(?<path>`[^`]+`|\"[^\"]+\"|'[^']+'|\\S+?)"

const pathOf = (words: Words): { readonly path: string } => ({ path: unquote(words("path")) })
const sentence = (source: string): RegExp => new RegExp(`^${source}$`, "is")

export const FILE_RULES: readonly Rule[] = [
  callingRule({
    sentence: "read file PATH",
    example: "read file notes.txt",
    meaning: "shows a file",
    pattern: sentence(`(?:read|show me|open) (?:the )?file ${PATH}`),
    tool: "readFile",
    input: pathOf,
  }),
  callingRule({
    sentence: "write file PATH with TEXT",
    example: "write file notes.txt with buy milk",
    meaning: "a new file",
    pattern: sentence(
      `(?:write|create) (?:a |the )?(?:new )?file ${PATH} with(?: the)?(?: text| content)?:?\\s(?<text>.+)`,
    ),
    tool: "writeNewFile",
    input: (words) => ({ ...pathOf(words), content: unquote(words("text")) }),
  }),
  callingRule({
    sentence: "update file PATH with TEXT",
    example: "update file notes.txt with buy bread",
    meaning: "replaces all of a file",
    pattern: sentence(`(?:update|overwrite) (?:the )?file ${PATH} with(?: the)?(?: text| content)?:?\\s(?<text>.+)`),
    tool: "updateFile",
    input: (words) => ({ ...pathOf(words), new_content: unquote(words("text")) }),
  }),
  callingRule({
    sentence: "replace OLD with NEW in file PATH",
    example: 'replace "milk" with "tea" in file notes.txt',
    meaning: "replaces one piece of a file",
    pattern: sentence(`replace (?<old>.+?) with (?<new>.+) in (?:the )?file ${PATH}`),
    tool: "updateFile",
    input: (words) => ({ ...pathOf(words), old_text: unquote(words("old")), new_text: unquote(words("new")) }),
  }),
  callingRule({
    sentence: "remove file PATH",
    example: "remove file notes.txt",
    meaning: "deletes a file",
    pattern: sentence(`(?:remove|delete) (?:the )?file ${PATH}`),
    tool: "removeFile",
    input: pathOf,
  }),
  callingRule({
    sentence: "undo the change to PATH",
    example: "undo the change to notes.txt",
    meaning: "takes the last change of a file back",
    pattern: sentence(`undo (?:the )?(?:last )?changes? (?:to|of) (?:the file |file )?${PATH}`),
    tool: "undoFileChange",
    input: pathOf,
  }),
  callingRule({
    sentence: "look at image PATH",
    example: "look at image chart.png",
    meaning: "shows the model a picture; this one only tells its type and size",
    pattern: sentence(`(?:look at|view) (?:the |an )?(?:image|picture) ${PATH}`),
    tool: "viewImage",
    input: pathOf,
  }),
  callingRule({
    sentence: "fetch URL",
    example: "fetch https://example.com/",
    meaning: "reads a web page",
    pattern: /^fetch (?<url>`?https?:\/\/\S+)$/i,
    tool: "fetch_url",
    input: (words) => ({ url: unquote(words("url")) }),
  }),
]
