import { toErrorMessage } from "../../base/error.ts"
import type { Effect } from "../../plugin/effect.ts"
import { ownFields } from "../../plugin/input-schema.ts"
import type { Question } from "../../plugin/person-port.ts"
import type { JudgedCall } from "./grants.ts"
import { toQuotedText } from "../../base/quoted-text.ts"
import { toVisibleText } from "../../base/visible-text.ts"

const PHRASES: Readonly<Record<Effect, string>> = {
  write: "writes",
  delete: "deletes",
  install: "installs software",
  send: "sends to other machines",
  run_as: "acts as another user",
  unknown: "may do anything: nobody can say",
}
const LONGEST_TEXT = 300

/**
 * A question for yes or no, with all a person needs to know. `redact` is applied to everything that comes from the call;
 * `reason` says why a rule wants the person asked.
 */
export async function toQuestion(
  call: JudgedCall,
  redact: (text: string) => string,
  reason?: string,
): Promise<Question> {
  const { plugin, tool, effects } = call
  const does = effects.length > 0 ? ` It ${effects.map((effect) => PHRASES[effect]).join(", ")}.` : ""
  const because = reason === undefined ? "" : ` ${reason}`
  const preview = await toPreview(call)
  const place = toPlace(call)
  const detail = [
    `Tool ${tool} of plugin ${plugin}. Effects: ${effects.join(", ") || "none"}`,
    ...toInputLines(call, preview, place).map((line) => toAsked(redact(line))),
    ...(preview === undefined ? [] : [toAsked(redact(preview.text))]),
    ...(place === undefined ? [] : [redact(place)]),
  ]
  const text = toVisibleText(`Allow ${tool}?${does}${because}`, LONGEST_TEXT)
  return { kind: "approval", text, detail: detail.join("\n") }
}

/** Words of a model or of a file, whole: who says yes has been shown what they say yes to. */
const toAsked = (text: string): string => toQuotedText(toVisibleText(text))

/** The folder in which the call runs, in one line of our own. */
function toPlace({ definition, input }: JudgedCall): string | undefined {
  const folder = definition.preview ? definition.folderOf?.(input) : undefined
  return folder === undefined ? undefined : toVisibleText(`in ${folder}`).replaceAll("\n", "\\u{a}")
}

interface Preview {
  readonly text: string
  /** True if the text shows what the call would do; false if it says why that cannot be shown. */
  readonly isShown: boolean
}

async function toPreview({ definition, input }: JudgedCall): Promise<Preview | undefined> {
  if (!definition.preview) return undefined
  try {
    return { text: await definition.preview(input), isShown: true }
  } catch (error) {
    return { text: `There is no preview: ${toErrorMessage(error)}`, isShown: false }
  }
}

/** The input without what the tool sets itself, and what the preview shows: texts that it quotes, and texts of several lines. */
function toInputLines(
  { definition, input }: Pick<JudgedCall, "definition" | "input">,
  preview: Preview | undefined,
  place = "",
): readonly string[] {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input)
  if (!preview?.isShown || !isObject) return [`Input: ${toInputText(input)}`]
  const isShown = (text: string): boolean => text.includes("\n") || preview.text.includes(text) || place.includes(text)
  const isSeen = (value: unknown): boolean => value === undefined || (typeof value === "string" && isShown(value))
  const own = ownFields(definition.input)
  const unseen = Object.entries(input).filter(
    ([key, value]) => !own.has(key) && !isSeen(value) && !isWhereItIs(key, value),
  )
  return unseen.length === 0 ? [] : [`Input: ${toInputText(Object.fromEntries(unseen))}`]
}

/** True for the working folder, where calls run anyway. */
const isWhereItIs = (key: string, value: unknown): boolean => key === "cwd" && value === "."

function toInputText(input: unknown): string {
  const text: string | undefined = JSON.stringify(input, undefined, 2)
  return text ?? "none"
}
