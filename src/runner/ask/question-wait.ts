import { createHash } from "node:crypto"
import { type JsonObject, toJson } from "../../base/json.ts"
import { shorten } from "../../base/shorten.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { createWaitId } from "../../task/id.ts"
import { type Patch, toPatch } from "../../task/patch.ts"
import type { Wait } from "../../task/wait.ts"
import type { HasClock, HasConfig, HasRedactor } from "../run/scope.ts"
import { toVisibleText } from "../../base/visible-text.ts"
import { redactQuestion } from "../redaction/redact-question.ts"
import { createAnsweredTool } from "../group/gate.ts"
import { QUESTION_TOOL } from "../tool/tool-source.ts"

/** Marks the question that a run in the background puts to a person, so that its answer is understood. */
export const ASKED_QUESTION = "question"

const LONGEST_TITLE = 200
const NAMES_ASKER = /^The (?:agent|MCP server .+?) asks: /

/**
 * The wait in which the question's task is created. Its `text` holds question, options and default; `asked` holds the
 * question as it was asked.
 */
export function toQuestionWait(scope: HasClock & HasConfig & HasRedactor, question: Question): Wait {
  const asked = redactQuestion(scope.redactor, question)
  const { text, detail, fallback, kind } = asked
  const shown = {
    kind: ASKED_QUESTION,
    text: scope.redactor.redactShown(`${text}${toChoices(asked)}${toDefault(fallback)}`),
    ...(detail !== undefined && { detail }),
    ...(kind === "approval" && { options: [true, false] }),
    asked: toJson(asked),
  }
  return {
    id: createWaitId(),
    reason: "person",
    question: shown,
    expiresAt: scope.clock.now() + Math.ceil(scope.config.questionExpirySeconds * 1_000),
    onExpiry: question.fallback ?? null,
  }
}

export function toQuestionTitle(scope: HasRedactor, { text }: Question): string {
  const [line = ""] = toVisibleText(scope.redactor.redactText(text)).split("\n")
  return shorten(NAMES_ASKER.test(line) ? line : `asks: ${line}`, LONGEST_TITLE)
}

/** Equal questions have equal hashes, so that a question is found again. */
export function toQuestionHash(question: Question): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("hex")
}

/** The question as it was asked; undefined when the wait is of another kind. */
export function toAskedQuestion({ question }: Pick<Wait, "question">): Question | undefined {
  if (typeof question !== "object" || question === null || !("asked" in question)) return undefined
  return question["kind"] === ASKED_QUESTION ? (question["asked"] as unknown as Question) : undefined
}

/** The patch of an answered question. Its facts hold the answer, too: the asker may read it after the payload has gone. */
export function toAnswerPatch(answer: PersonAnswer): Patch {
  const kept = toJson(answer)
  return { ...toPatch(kept), facts: kept as JsonObject }
}

export function toKeptAnswer({ facts }: Patch): PersonAnswer {
  return facts as unknown as PersonAnswer
}

function toChoices({ kind, options = [], isMultiple, allowsText }: Question): string {
  if (kind !== "choice" || options.length === 0) return ""
  const choices = `${isMultiple ? "One or more of, separated by commas" : "One of"}: ${options.join(", ")}.`
  return ` ${choices}${allowsText ? " Or in your own words." : ""}`
}

function toDefault(fallback: string | undefined): string {
  return fallback === undefined ? "" : ` Without an answer: ${fallback}.`
}

/** The tool that the record of a question names. */
export const questionTool = createAnsweredTool(
  QUESTION_TOOL,
  "A question to a person.",
  "A question is not asked again by itself: the run that needs the answer asks it.",
)
