import type { GroupId, SessionId, TaskId, WaitId, WorkspaceId } from "../../../../task/id.ts"
import type { AskingStep } from "../../../../task/record.ts"

export interface DocumentKey {
  readonly workspace: WorkspaceId
  readonly collection: string
  readonly id: string
}

/** The rows that can be wanted, by the key that asks for them. */
interface Wanted {
  readonly task: TaskId
  /** The task under this number. */
  readonly taskNumber: number
  readonly idempotencyKey: { readonly workspace: WorkspaceId; readonly key: string }
  readonly askingStep: AskingStep
  readonly tasksOfSession: SessionId
  /** A task, and if it is a turn, the task above it. */
  readonly above: TaskId
  /** The tasks below it, with their groups: see `TaskTable.below`. */
  readonly below: TaskId
  /** Every notice of the task. */
  readonly noticesOfTask: TaskId
  /** The notices that the step has claimed, with their tasks. */
  readonly claimsOfStep: AskingStep
  readonly wait: WaitId
  readonly step: AskingStep
  /** The completion number of the step that finished last in the run. */
  readonly lastCompletion: { readonly taskId: TaskId; readonly run: number }
  readonly runsOfTask: TaskId
  readonly group: GroupId
  /** The group of a task, if it has one, with the number of the group's arrivals. */
  readonly groupOfTask: TaskId
  readonly groupsOfSession: SessionId
  readonly arrivalCount: GroupId
  readonly arrivals: GroupId
  readonly session: SessionId
  /** The workspace of a session, for writers who do not change the session. */
  readonly workspaceOfSession: SessionId
  readonly lease: string
  readonly document: DocumentKey
}

export type WantedKind = keyof Wanted

/** The sequences that numbers come from. */
export const NUMBER_KINDS = ["task_numbers", "session_numbers", "lease_fences"] as const
export type NumberKind = (typeof NUMBER_KINDS)[number]

/** The rows to load, each once, and how many fresh numbers to draw. */
export interface Wants {
  readonly rows: { readonly [Kind in WantedKind]: Map<string, Wanted[Kind]> }
  readonly numbers: Record<NumberKind, number>
}

export function createWants(): Wants {
  return {
    rows: {
      task: new Map(),
      taskNumber: new Map(),
      idempotencyKey: new Map(),
      askingStep: new Map(),
      tasksOfSession: new Map(),
      above: new Map(),
      below: new Map(),
      noticesOfTask: new Map(),
      claimsOfStep: new Map(),
      wait: new Map(),
      step: new Map(),
      lastCompletion: new Map(),
      runsOfTask: new Map(),
      group: new Map(),
      groupOfTask: new Map(),
      groupsOfSession: new Map(),
      arrivalCount: new Map(),
      arrivals: new Map(),
      session: new Map(),
      workspaceOfSession: new Map(),
      lease: new Map(),
      document: new Map(),
    },
    numbers: { task_numbers: 0, session_numbers: 0, lease_fences: 0 },
  }
}

export function want<Kind extends WantedKind>(wants: Wants, kind: Kind, wanted: Wanted[Kind]): void {
  wants.rows[kind].set(toKey(wanted), wanted)
}

export function isWanting({ rows, numbers }: Wants): boolean {
  return Object.values(rows).some(({ size }) => size > 0) || Object.values(numbers).some((count) => count > 0)
}

/** Thrown when the rules look up a row that is not loaded. It passes through the rules, and only the commit catches it. */
export class Missing extends Error {
  override readonly name = "Missing"
  readonly wants: Wants

  constructor(note: (wants: Wants) => void) {
    super("Rows that the rules look for have to be loaded first.")
    this.wants = createWants()
    note(this.wants)
  }
}

export function missing<Kind extends WantedKind>(kind: Kind, wanted: Wanted[Kind]): Missing {
  return new Missing((wants) => want(wants, kind, wanted))
}

/** Adds the wants of the second to the first. */
export function addWants(wants: Wants, more: Wants): void {
  for (const kind of Object.keys(wants.rows) as WantedKind[]) {
    const known: Map<string, unknown> = wants.rows[kind]
    for (const [key, wanted] of more.rows[kind]) known.set(key, wanted)
  }
  for (const kind of NUMBER_KINDS) wants.numbers[kind] += more.numbers[kind]
}

/** A key as text: the same text for keys of the same values. */
export function toKey(wanted: string | number | object): string {
  switch (typeof wanted) {
    case "string":
      return wanted
    case "number":
      return String(wanted)
    default:
      return JSON.stringify(Object.values(wanted))
  }
}

export function toStepKey({ taskId, run, key }: AskingStep): string {
  return toKey([taskId, run, key])
}
