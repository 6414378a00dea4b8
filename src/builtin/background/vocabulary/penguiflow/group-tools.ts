import { z } from "zod"
import { isMeanwhileError, MeanwhileError } from "../../../../base/error.ts"
import type { JsonValue } from "../../../../base/json.ts"
import { lazily } from "../../../../base/lazily.ts"
import { toVisibleText } from "../../../../base/visible-text.ts"
import type { Question } from "../../../../plugin/person-port.ts"
import { GROUP_LIFECYCLE, type GroupRecord, type GroupState } from "../../../../task/group.ts"
import type { Wait } from "../../../../task/wait.ts"
import { answer } from "../answer.ts"
import type { BackgroundCall } from "../../operations/background-call.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { defineVocabularyTool, type VocabularyTool } from "../vocabulary.ts"
import { toGroupFacts, toTaskFacts } from "./task-facts.ts"

const STATES = Object.keys(GROUP_LIFECYCLE) as GroupState[]
const WHICH = "give either group_id or group"

const groupFields = lazily(() => {
  const groupId = z.string().trim().min(1).max(64).describe("The id of a group, or the beginning of it.")
  const groupName = z.string().trim().min(1).max(100).describe("The name of a group of this conversation.")
  return { group_id: groupId.optional(), group: groupName.optional() }
})

interface NamedGroup {
  readonly group_id?: string | undefined
  readonly group?: string | undefined
}

const isNamed = ({ group_id: id, group }: NamedGroup): boolean => (id === undefined) !== (group === undefined)
const toName = ({ group_id: id, group }: NamedGroup): string => id ?? group ?? ""

export const createGroupTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "tasks.seal_group",
    description: () =>
      "Says that a group gets no more tasks, so that it is told of when those in it have ended. Groups are sealed by " +
      "themselves when your turn ends.",
    input: z.strictObject(groupFields()).refine(isNamed, { error: WHICH }),
    isAutoApproved: true,
    async run(input, operations) {
      const group = await operations.groups.seal(toName(input))
      return tell(group, { ok: true, sealed_task_count: group.memberCount })
    },
  }),
  defineVocabularyTool({
    name: "tasks.cancel_group",
    description: () => "Stops all tasks of a group that still run, and releases everyone who waits for it.",
    input: z
      .strictObject({ ...groupFields(), reason: z.string().trim().min(1).max(500).optional() })
      .refine(isNamed, { error: WHICH }),
    isAutoApproved: false,
    title: (input) => `cancel group ${toName(input)}`,
    async run({ reason, ...input }, operations) {
      const before = await operations.groups.get(toName(input))
      const group = await operations.groups.cancel(before.id, reason)
      const cancelled = before.state === "cancelled" ? 0 : before.memberCount - before.arrivals.length
      return tell(group, { ok: true, cancelled_task_count: cancelled })
    },
  }),
  defineVocabularyTool({
    name: "tasks.list_groups",
    description: () => "Lists the groups of this conversation, the newest first.",
    input: z.strictObject({ status: z.enum(STATES).optional().describe("Only those with this status.") }),
    isAutoApproved: true,
    async run({ status }, operations) {
      const groups = await operations.groups.list(status === undefined ? undefined : [status])
      return answer(`${groups.length} groups`, { groups: groups.map(toGroupFacts), count: groups.length })
    },
  }),
  defineVocabularyTool({
    name: "tasks.get_group",
    description: () => "Shows a group with its tasks.",
    input: z.strictObject(groupFields()).refine(isNamed, { error: WHICH }),
    isAutoApproved: true,
    async run(input, operations) {
      const group = await operations.groups.get(toName(input))
      const tasks = await operations.list({ group: group.id })
      return tell(group, { tasks: tasks.map(toTaskFacts) })
    },
  }),
  defineVocabularyTool({
    name: "tasks.apply_patch",
    description: () =>
      "Uses or rejects what a human_gated task or group came to. That is for the person to decide: call it only when " +
      "they have said so themselves, in this conversation. They are asked, with what it came to, before it is applied; " +
      "when nobody is there to say yes, nothing is applied.",
    input: z.strictObject({
      patch_id: z.string().trim().min(1).max(100).describe("The id of the group, or of a task in it."),
      action: z.enum(["apply", "reject"]).default("apply"),
    }),
    isAutoApproved: false,
    title: ({ patch_id: id, action }) => `${action} the results of ${id}`,
    async run({ patch_id: id, action }, operations) {
      const group = await findPatch(operations, id)
      if (action === "reject") return tell(await operations.groups.decide(group.id, action), { ok: true, action })
      const asked = await askToApply(operations.call, await operations.groups.gate(group.id))
      if (!asked.isAllowed) return tell(group, { ok: false, action, message: asked.reason })
      return tell(await operations.groups.decide(group.id, action, asked.by), { ok: true, action })
    },
  }),
]

function tell(group: GroupRecord, more: Record<string, string | number | boolean | ReturnType<typeof toTaskFacts>[]>) {
  return answer(`group ${group.name} is ${group.state}`, { ...more, ...toGroupFacts(group) })
}

/** A single task whose results are gated is a group of one. */
async function findPatch(operations: TaskOperations, id: string): Promise<GroupRecord> {
  try {
    return await operations.groups.get(id)
  } catch (error) {
    if (!isMeanwhileError(error, "not_found")) throw error
  }
  const { task } = await operations.look(id)
  if (task.group !== null) return operations.groups.get(task.group)
  const message = `Task ${id} is not human_gated: its result needs no decision, and is told by itself.`
  throw new MeanwhileError("wrong_state", message, { id })
}

type ApplyAnswer =
  | { readonly isAllowed: true; readonly by: string }
  /** Why the results are not applied, as the model reads it. */
  | { readonly isAllowed: false; readonly reason: string }

const LONGEST_TEXT = 500
const IN_INBOX = "It stays as it is until the person decides in their inbox, and you are told what they decide."

/**
 * The person at the prompt decides about results that need a person's decision, whatever the policy allows: what
 * a model says is no approval. In the background nobody is asked a second time, since the gate's question is in the
 * inbox.
 */
async function askToApply({ context }: BackgroundCall, gate: Wait): Promise<ApplyAnswer> {
  const { person, signal } = context
  if (await person.isInbox?.()) return refuse("Nobody waits for what runs in the background.")
  const answer = await person.ask(toQuestion(gate), signal)
  if (!answer.isAnswered) return refuse(`Nobody said yes: ${answer.reason}.`)
  return answer.value === "yes" ? { isAllowed: true, by: answer.by } : refuse("The person said no.")
}

function refuse(why: string): ApplyAnswer {
  return { isAllowed: false, reason: `Nothing is applied. ${why} ${IN_INBOX}` }
}

function toQuestion({ question }: Wait): Question {
  const { text, detail } = typeof question === "object" && question !== null && "text" in question ? question : {}
  return {
    kind: "approval",
    text: toVisibleText(`The agent asks for it: ${toText(text)}`, LONGEST_TEXT),
    ...(detail !== undefined && { detail: toVisibleText(toText(detail)) }),
  }
}

function toText(value: JsonValue = ""): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
