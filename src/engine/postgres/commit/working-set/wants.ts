import type { GroupId, SessionId, TaskId, WaitId, WorkspaceId } from "../../../../task/id.ts"
import type { AskingStep } from "../../../../task/record.ts"

export interface DocumentKey {
  readonly workspace: WorkspaceId
  readonly collection: string
  readonly id: string
}

/** The rows that can be wanted, by the way they are asked for. */
interface Wanted {
  task: TaskId
  /** The task under this number. */
  taskNumber: number
  idempotencyKey: { readonly workspace: WorkspaceId; readonly key: string }
  askingStep: AskingStep
  tasksOfSession: SessionId
  /** Every notice of the task. */
  noticesOfTask: TaskId
  /** The notices that the step has claimed, with their tasks. */
  claimsOfStep: AskingStep
  wait: WaitId
  step: AskingStep
  /** The number of the step of the run that finished last. */
  lastCompletion: { readonly taskId: TaskId; readonly run: number }
  runsOfTask: TaskId
  group: GroupId
  /** The group of a task, with the number of its arrivals, when it has one. */
  groupOfTask: TaskId
  groupsOfSession: SessionId
  arrivalCount: GroupId
  arrivals: GroupId
  session: SessionId
  /** The workspace of a session, for those who change nothing of it. */
  workspaceOfSession: SessionId
  lease: string
  document: DocumentKey
}

export type WantedKind = keyof Wanted

/** Rows that are wanted near, each once, and how many fresh numbers. */
export type Wants = {
  readonly rows: { readonly [Kind in WantedKind]: Map<string, Wanted[Kind]> }
  readonly numbers: Record<NumberKind, number>
}

/** The sequences that numbers come from. */
export const NUMBER_KINDS = ["task_numbers", "session_numbers", "lease_fences"] as const
export type NumberKind = (typeof NUMBER_KINDS)[number]

export function createWants(): Wants {
  return {
    rows: {
      task: new Map(),
      taskNumber: new Map(),
      idempotencyKey: new Map(),
      askingStep: new Map(),
      tasksOfSession: new Map(),
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

/** The rules looked for something that is not near. Thrown through them, and never seen by anybody else. */
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

/** Adds what the second wants to the first. */
export function addWants(wants: Wants, more: Wants): void {
  for (const kind of Object.keys(wants.rows) as WantedKind[]) {
    const known = wants.rows[kind] as Map<string, unknown>
    for (const [key, wanted] of more.rows[kind]) known.set(key, wanted)
  }
  for (const kind of NUMBER_KINDS) wants.numbers[kind] += more.numbers[kind]
}

/** The same text for the same thing, whatever it holds. */
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
