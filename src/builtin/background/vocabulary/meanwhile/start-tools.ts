import { z } from "zod"
import { defined } from "../../../../base/defined.ts"
import type { JsonObject } from "../../../../base/json.ts"
import { lazily } from "../../../../base/lazily.ts"
import { toOneLine } from "../../../../base/one-line.ts"
import { type AgentBudget, HANDOVERS } from "../../../../plugin/agent-request.ts"
import type { ToolReturn } from "../../../../plugin/tool.ts"
import type { WaitAnswer } from "../../../../plugin/wait-request.ts"
import { NOTIFY_MODES, type TaskRecord } from "../../../../task/record.ts"
import { answer } from "../answer.ts"
import { toLack, toShortId } from "../task-facts.ts"
import { describeCapable } from "../../operations/capable-tool.ts"
import type { Started, StartOptions } from "../../operations/start-task.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { defineVocabularyTool, type VocabularyTool } from "../vocabulary.ts"
import { lifetime, timeoutSeconds, toLimitFacts, toTimeoutMs } from "../time-limit.ts"
import { COMES_BY_ITSELF, NEEDS_APPROVAL } from "../vocabulary-text.ts"
import { IN_ANSWERS, toGroupFacts, toTaskFacts } from "./task-facts.ts"

const LONGEST_TEXT = 64 * 1024

const startSchema = lazily(() => {
  const groupName = z.string().overwrite(toOneLine).min(1).max(100)
  return {
    title: z.string().overwrite(toOneLine).min(1).max(200).optional().describe("One line for people."),
    group: z
      .union([
        groupName,
        z.strictObject({
          name: groupName,
          join: z.union([z.enum(["all", "any"]), z.number().int().positive()]).optional(),
          fail_fast: z.boolean().optional(),
          report: z.enum(["combined", "each", "none"]).optional(),
          merge: z.enum(["append", "replace", "human_gated"]).optional(),
        }),
      ])
      .optional()
      .describe(
        "Tasks with the same group name are told of together, when all of them have ended (`join`: all, any, or how " +
          "many). `fail_fast`: the first that fails stops the others. `report`: combined, each or none.",
      ),
    seal: z
      .boolean()
      .optional()
      .describe("This is the last task of the group. Otherwise the group ends with your turn."),
    wait: z
      .boolean()
      .optional()
      .describe("Hold this turn for its result, for a while; it goes on in the background when it takes longer."),
    notify: z
      .enum(NOTIFY_MODES)
      .optional()
      .describe("Whether its end wakes you (default), waits for the next message, or is never told."),
    lifetime: lifetime().optional(),
    again: z.boolean().optional().describe("Start it although the same work runs already."),
  }
})

const budgetSchema = lazily(() =>
  z.strictObject({
    tokens: z.number().int().positive().optional(),
    usd: z.number().positive().optional(),
    seconds: z.number().positive().optional(),
  }),
)

type StartInput = z.output<z.ZodObject<ReturnType<typeof startSchema>>>

export const createStartTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "start_task",
    description: (capable) =>
      `Starts a tool in the background as a task, and answers at once with its id. ${COMES_BY_ITSELF} Asking for it ` +
      `again and again is of no use. These tools can run in the background: ${describeCapable(capable)}.`,
    input: z.strictObject({
      tool: z.string().min(1).describe("The tool to start."),
      input: z.record(z.string(), z.json()).default({}).describe("What that tool takes."),
      ...startSchema(),
      timeout_seconds: timeoutSeconds().optional(),
    }),
    isAutoApproved: false,
    waitsMs: ({ wait }, { retainTurnTimeoutMs }) => (wait ? retainTurnTimeoutMs : 0),
    title: ({ tool, title }) => `start ${title ?? tool}`,
    starts: {
      find({ tool, input }, capable) {
        const found = capable.find((each) => each.tool.name === tool)
        return found && { tool: found.tool, input }
      },
      change: (input, started) => ({ ...input, input: started }),
    },
    async run({ tool, input, timeout_seconds: seconds, ...options }, operations) {
      const timeout = defined({ timeoutMs: toTimeoutMs(seconds) })
      return tellStarted(await operations.start({ tool, input, ...toStartOptions(options), ...timeout }), operations)
    },
  }),
  defineVocabularyTool({
    name: "start_agent",
    description: () =>
      "Gives one piece of work to another agent, which works in the background with a conversation of its own. " +
      `${COMES_BY_ITSELF} send_to_task tells it something meanwhile, or asks it more when it is done.`,
    input: z.strictObject({
      task: z.string().trim().min(1).max(LONGEST_TEXT).describe("What it should do, whole."),
      profile: z.string().min(1).max(64).optional().describe("The name of a profile. Without it, an agent like you."),
      name: z
        .string()
        .overwrite(toOneLine)
        .min(1)
        .max(64)
        .optional()
        .describe("The name that people see beside the agent's words."),
      context: z
        .enum(HANDOVERS)
        .default("summary")
        .describe("How much of this conversation it is told, as it stands now."),
      budget: budgetSchema().optional().describe("What it may use up; then it hands back what it has."),
      milestones: z.boolean().optional().describe("Wake you at its milestones too, and not only at its end."),
      ...startSchema(),
    }),
    isAutoApproved: false,
    needsAgents: true,
    waitsMs: ({ wait }, { retainTurnTimeoutMs }) => (wait ? retainTurnTimeoutMs : 0),
    title: ({ task, title }) => `start an agent: ${toOneLine(title ?? task).slice(0, 80)}`,
    async run({ task, profile, name, context, budget, milestones, ...options }, operations) {
      const started = await operations.startAgent({
        task,
        handover: context,
        ...defined({ profile, name, milestones, budget: budget && toBudget(budget) }),
        ...toStartOptions(options),
      })
      return tellStarted(started, operations)
    },
  }),
]

function toBudget({ tokens, usd, seconds }: z.output<ReturnType<typeof budgetSchema>>): AgentBudget {
  return defined({
    tokens,
    costMicros: usd && Math.ceil(usd * 1_000_000),
    timeMs: seconds && Math.ceil(seconds * 1_000),
  })
}

function toStartOptions({ title, group, seal, wait, notify, lifetime, again }: StartInput): StartOptions {
  return defined({
    title,
    group: group === undefined ? group : toGroup(group),
    seals: seal,
    isRetained: wait,
    notify,
    lifetime,
    again,
  })
}

function toGroup(group: NonNullable<StartInput["group"]>): NonNullable<StartOptions["group"]> {
  if (typeof group === "string") return { name: group }
  const { name, join, fail_fast: failFast, report, merge } = group
  return defined({ name, join, failFast, report, merge })
}

async function tellStarted(started: Started, operations: TaskOperations): Promise<ToolReturn> {
  const { task } = started
  const id = toShortId(task.id)
  if (started.outcome === "running_already") {
    return answer(`runs already as ${id}`, {
      ...toTaskFacts(task),
      note: `The same work runs already as task ${id}, so nothing was started. ${COMES_BY_ITSELF} wait_for waits for it; \`again\` starts it a second time.`,
    })
  }
  const { waited } = started
  const group = waited?.group ?? started.group
  const inGroup: JsonObject = group ? { in_group: toGroupFacts(group) } : {}
  if (waited?.reason === "met") {
    const { tasks, note } = await operations.show(waited.tasks, IN_ANSWERS)
    return answer(`${id} has ended`, { tasks, ...inGroup, ...(note !== "" && { note }) })
  }
  const view = await operations.look(task.id)
  const place: JsonObject = view.placeInQueue === null ? {} : { place_in_queue: view.placeInQueue }
  const standing = { ...toTaskFacts(view.task), ...toLimitFacts(view.task), ...place, ...toLack(view.missing) }
  return answer(`started ${id}: ${task.title}`, { ...standing, ...inGroup, note: toNote(view.task, waited) })
}

function toNote(task: TaskRecord, waited: WaitAnswer | null): string {
  if (task.status === "waiting" && task.wait.reason === "approval") return NEEDS_APPROVAL
  if (waited?.reason === "cancelled") return "Its group was cancelled."
  const before = waited?.reason === "released" ? "The person said something: look at that first. " : ""
  return `${before}${waited ? "It goes on in the background. " : ""}${COMES_BY_ITSELF}`
}
