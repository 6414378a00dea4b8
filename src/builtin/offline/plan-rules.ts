import { toList, unquote } from "./quoted-text.ts"
import { callingRule, type Rule } from "./rule.ts"

const STATUSES: Readonly<Record<string, string>> = { done: "completed", started: "in_progress", open: "pending" }

export const PLAN_RULES: readonly Rule[] = [
  callingRule({
    sentence: "make a plan TITLE: STEP, STEP and STEP",
    example: "make a plan release: build, test and publish",
    meaning: "a plan with these steps; the title may be left out",
    pattern: /^(?:make|create) (?:a|the) plan(?: (?<title>[^:]+?))?(?: with(?: the)? steps)?:\s*(?<steps>.+)$/is,
    tool: "createPlan",
    input: (words) => ({
      ...(words("title") !== "" && { title: unquote(words("title")) }),
      steps: toList(words("steps")),
    }),
  }),
  callingRule({
    sentence: "mark step NUMBER STATUS",
    example: "mark step 2 done",
    meaning: "done, started, failed, skipped or open",
    pattern:
      /^mark step (?<step>\d+) (?:as )?(?<status>done|completed|started|in_progress|failed|skipped|open|pending)[.!]?$/i,
    tool: "updateStep",
    input: (words) => {
      const status = words("status").toLowerCase()
      return { step: Number(words("step")), status: STATUSES[status] ?? status }
    },
  }),
  callingRule({
    sentence: "show the plan",
    example: "show the plan",
    meaning: "the plan and how far it is",
    pattern: /^show(?: me)? (?:the|my) plan[.!]?$/i,
    tool: "getPlanStatus",
  }),
  callingRule({
    sentence: "list references",
    example: "list references",
    meaning: "what can be looked up",
    pattern: /^(?:list|show)(?: me)?(?: the| all)? references[.!]?$/i,
    tool: "listReferences",
  }),
  callingRule({
    sentence: "select references ID and ID",
    example: "select references style and api",
    meaning: "brings these into the conversation",
    pattern: /^select(?: the)? references? (?<ids>.+)$/i,
    tool: "selectReferences",
    input: (words) => ({ ids: toList(words("ids")) }),
  }),
]
