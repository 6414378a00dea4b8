import { z } from "zod"
import { defined } from "../../../../base/defined.ts"
import { MeanwhileError } from "../../../../base/error.ts"
import { lazily } from "../../../../base/lazily.ts"
import { toOneLine } from "../../../../base/one-line.ts"
import { HANDOVERS } from "../../../../plugin/agent-request.ts"
import type { ToolReturn } from "../../../../plugin/tool.ts"
import type { GroupReport, MergeStrategy } from "../../../../task/group.ts"
import { NOTIFY_MODES } from "../../../../task/record.ts"
import { answer } from "../answer.ts"
import { toShortId } from "../task-facts.ts"
import { describeCapable } from "../../operations/capable-tool.ts"
import type { Started, StartOptions } from "../../operations/start-task.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { lifetime, timeoutSeconds, toLimitFacts, toTimeoutMs } from "../time-limit.ts"
import { defineVocabularyTool, type VocabularyTool } from "../vocabulary.ts"
import { COMES_BY_ITSELF, NEEDS_APPROVAL } from "../vocabulary-text.ts"
import { IN_ANSWERS, toGroupFacts, toTaskFacts } from "./task-facts.ts"

const LONGEST_TEXT = 64 * 1024

/** `all` and `any` are how the design calls them. */
const REPORTS = {
  combined: "combined",
  each: "each",
  none: "none",
  all: "combined",
  any: "each",
} as const satisfies Record<string, GroupReport>

const MERGE_STRATEGIES = ["append", "replace", "human_gated"] as const satisfies readonly MergeStrategy[]
const toLower = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value)

const inputSchema = lazily(() =>
  z
    .strictObject({
      mode: z
        .enum(["subagent", "job"])
        .default("subagent")
        .describe("An agent that works on its own, or one tool call."),
      query: z.string().trim().min(1).max(LONGEST_TEXT).optional().describe("Subagent: what it should do, whole."),
      profile: z.string().min(1).max(64).optional().describe("Subagent: its profile. Without it, an agent like you."),
      context_depth: z
        .enum(HANDOVERS)
        .default("summary")
        .describe("Subagent: how much of this conversation it is told, as it stands now."),
      tool_name: z.string().min(1).optional().describe("Job: the tool to call."),
      tool_args: z.record(z.string(), z.json()).optional().describe("Job: what that tool takes."),
      description: z.string().overwrite(toOneLine).min(1).max(200).optional().describe("One line for people."),
      priority: z.number().int().min(-1_000).max(1_000).optional().describe("Higher runs first. Default 0."),
      notify: z
        .enum(NOTIFY_MODES)
        .optional()
        .describe("Whether its end wakes you, waits for the next message, or neither."),
      merge_strategy: z
        .preprocess(toLower, z.enum(MERGE_STRATEGIES))
        .optional()
        .describe(
          "append (default), replace (earlier results of the same group), human_gated (a person decides first).",
        ),
      group: z
        .string()
        .overwrite(toOneLine)
        .min(1)
        .max(100)
        .optional()
        .describe("Tasks with the same group name are told of together, when all of them have ended."),
      group_id: z.string().trim().min(1).max(64).optional().describe("Instead of its name: the id of an open group."),
      group_sealed: z.boolean().default(false).describe("This is the last task of the group."),
      group_report: z
        .enum(Object.keys(REPORTS) as (keyof typeof REPORTS)[])
        .optional()
        .describe("Of a new group: one report for all (default), one for each, or none."),
      timeout_seconds: timeoutSeconds().optional(),
      lifetime: lifetime().optional(),
      retain_turn: z.boolean().default(false).describe("Hold this turn for the result, for a while."),
    })
    .refine(({ mode, query }) => mode === "job" || query !== undefined, {
      path: ["query"],
      error: "a subagent needs a query: say what it should do",
    })
    .refine(({ mode, tool_name: tool }) => mode === "subagent" || tool !== undefined, {
      path: ["tool_name"],
      error: "a job needs tool_name: the tool to call",
    })
    .refine(({ retain_turn: isRetained, merge_strategy: merge }) => !isRetained || merge !== "human_gated", {
      path: ["retain_turn"],
      error: "a turn cannot be held for a result that a person decides on first: leave retain_turn or human_gated out",
    }),
)

type SpawnInput = z.output<ReturnType<typeof inputSchema>>

export const createSpawnTool = (): VocabularyTool =>
  defineVocabularyTool({
    name: "tasks.spawn",
    description: (capable) =>
      `Starts a subagent, or with mode job one tool call, in the background, and answers at once. ${COMES_BY_ITSELF} ` +
      `Tools for jobs: ${describeCapable(capable)}.`,
    input: inputSchema(),
    isAutoApproved: false,
    waitsMs: ({ retain_turn: isRetained }, { retainTurnTimeoutMs }) => (isRetained ? retainTurnTimeoutMs : 0),
    title: ({ mode, description, query, tool_name: tool }) =>
      `spawn ${mode}: ${toOneLine(description ?? query ?? tool ?? "").slice(0, 80)}`,
    starts: {
      find({ mode, tool_name: tool, tool_args: input = {} }, capable) {
        const found = mode === "job" ? capable.find((each) => each.tool.name === tool) : undefined
        return found && { tool: found.tool, input }
      },
      change: (input, started) => ({ ...input, tool_args: started }),
    },
    async run(input, operations) {
      const options = await toStartOptions(input, operations)
      const { query, profile, context_depth: handover, tool_name: tool, tool_args: args = {} } = input
      if (input.mode === "subagent" && query !== undefined) {
        const request = { ...defined({ task: query, handover, profile }), ...options }
        return tellSpawned(await operations.startAgent(request), operations)
      }
      if (tool === undefined) throw new MeanwhileError("invalid_input", "A job needs tool_name: the tool to call.")
      return tellSpawned(await operations.start({ tool, input: args, ...options }), operations)
    },
  })

async function toStartOptions(input: SpawnInput, operations: TaskOperations): Promise<StartOptions> {
  const { description: title, priority, notify, lifetime, retain_turn: isRetained, group_sealed: isSealed } = input
  const timeoutMs = toTimeoutMs(input.timeout_seconds)
  const group = await toGroup(input, operations)
  const isAlone = input.group === undefined && input.group_id === undefined
  return defined({
    isRetained,
    title,
    priority,
    notify,
    lifetime,
    timeoutMs,
    group,
    seals: group && (isSealed || isAlone),
  })
}

/** A task with its own merge strategy gets a group of its own, unless it is in a group. */
async function toGroup(input: SpawnInput, operations: TaskOperations): Promise<StartOptions["group"] | undefined> {
  const { group: name, group_id: id, merge_strategy: merge, group_report: report } = input
  const settings = defined({ merge, report: report && REPORTS[report] })
  if (id !== undefined) {
    const group = await operations.groups.get(id)
    if (group.state === "open") return { name: group.name, ...settings }
    const message = `The group ${group.name} is ${group.state}, and takes no more tasks. Leave group_id out, or name a new group.`
    throw new MeanwhileError("wrong_state", message, { id, state: group.state })
  }
  if (name !== undefined) return { name, ...settings }
  if (merge === undefined || merge === "append") return undefined
  return { name: toOneLine(input.description ?? input.query ?? input.tool_name ?? "").slice(0, 100), ...settings }
}

async function tellSpawned(started: Started, operations: TaskOperations): Promise<ToolReturn> {
  const { task } = started
  const id = toShortId(task.id)
  if (started.outcome === "running_already") {
    const note = `The same work runs already as task ${id}, so nothing was started. ${COMES_BY_ITSELF}`
    return answer(`runs already as ${id}`, { ...toTaskFacts(task), is_new: false, note })
  }
  const { group, waited } = started
  const facts = {
    ...toTaskFacts(task),
    ...toLimitFacts(task),
    is_new: true,
    ...(group && { group: toGroupFacts(group) }),
  }
  if (waited?.reason === "met") {
    const { tasks: results, note } = await operations.show(waited.tasks, IN_ANSWERS)
    return answer(`${id} has ended`, { ...facts, retained: true, results, ...(note !== "" && { note }) })
  }
  const note =
    task.status === "waiting" ? NEEDS_APPROVAL : `${waited ? "It goes on in the background. " : ""}${COMES_BY_ITSELF}`
  return answer(`started ${id}: ${task.title}`, { ...facts, retained: false, note })
}
