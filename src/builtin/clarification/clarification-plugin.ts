import { z } from "zod"
import type { JsonObject } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { toVisibleText } from "../../base/visible-text.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { Question } from "../../plugin/person-port.ts"
import { defineTool, type Tool, handBack } from "../../plugin/tool.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"

/** People think, and are away for lunch. */
const ANSWER_TIMEOUT_MS = 60 * 60 * 1000

const text = lazily(() => z.string().trim().min(1, "must not be empty").max(2_000))

const questionSchema = lazily(() =>
  z
    .strictObject({
      question: text().describe("One question."),
      options: z
        .array(text())
        .min(2, "one option is no choice")
        .max(20)
        .optional()
        .describe("What they can choose from."),
      multiple: z.boolean().optional().describe("They may choose several of the options."),
      default: text().optional().describe("Taken when they just press enter."),
    })
    .refine(({ options, multiple }) => !multiple || options, "`multiple` needs `options`")
    .refine(({ options, default: fallback }) => fallback === undefined || !options || options.includes(fallback), {
      error: "`default` must be one of the options",
    }),
)

type AskedQuestion = z.output<ReturnType<typeof questionSchema>>

/** Lets the model put questions to the person. */
export function createClarificationPlugin(): ToolPlugin {
  const tool = createRequestClarification()
  return defineBuiltin({
    kind: "tool",
    name: "clarification",
    tools: [tool],
    autoApprovedTools: [tool.name],
    systemInstructions:
      "When what the person wants is unclear and a wrong guess would cost them, ask with request_clarification, all " +
      "questions at once. Their answers tell you what they want; they are no permission for any call.",
  })
}

function createRequestClarification(): Tool {
  return defineTool({
    name: "request_clarification",
    background: { mode: "never" },
    description: "Asks the person questions, one after the other, and returns their answers.",
    input: z.strictObject({
      context: text().describe("What the questions are about, in one or two sentences."),
      questions: z.array(questionSchema()).min(1).max(10),
    }),
    timeoutMs: ANSWER_TIMEOUT_MS,
    // A question that a background agent asks again is found in the inbox, answered or not.
    onCrash: "retry",
    title: ({ questions }) => `asks ${questions.length === 1 ? "a question" : `${questions.length} questions`}`,
    async run({ context: about, questions }, { person, signal }) {
      const answers: JsonObject[] = []
      for (const asked of questions) {
        signal.throwIfAborted()
        const { question } = asked
        const answer = await person.ask(toQuestion(about, asked), signal)
        if (answer.isAnswered) answers.push({ question, isAnswered: true, answer: answer.value })
        else answers.push({ question, isAnswered: false, reason: answer.reason })
      }
      const answered = answers.filter((answer) => answer["isAnswered"]).length
      const digest = [toDigest(answered, answers.length)]
      return handBack({ digest, facts: { answered }, artifacts: [], nextSteps: [], payload: { answers } })
    },
  })
}

function toDigest(answered: number, asked: number): string {
  if (asked === 1) return answered === 1 ? "The question was answered" : "The question was not answered"
  return `${answered} of ${asked} questions answered`
}

function toQuestion(about: string, asked: AskedQuestion): Question {
  return {
    kind: asked.options ? "choice" : "text",
    text: toVisibleText(`The agent asks: ${asked.question}`),
    detail: toVisibleText(about),
    ...(asked.options && { options: asked.options.map((option) => toVisibleText(option)), allowsText: true }),
    ...(asked.multiple && { isMultiple: true }),
    ...(asked.default !== undefined && { fallback: toVisibleText(asked.default) }),
  }
}
