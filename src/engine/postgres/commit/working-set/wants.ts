import type { GroupId, SessionId, TaskId, WaitId, WorkspaceId } from "../../../../task/id.ts"
import type { AskingStep } from "../../../../task/record.ts"

export interface DocumentKey {
  readonly workspace: WorkspaceId
  readonly collection: string
  readonly id: string
}

/** The sequences that numbers come from. */
export const NUMBER_KINDS = ["task_numbers", "session_numbers", "lease_fences"] as const
export type NumberKind = (typeof NUMBER_KINDS)[number]

/** The rows to load, each once, by the key that asks for them, and how many fresh numbers to draw. */
export interface Wants {
  readonly rows: ReturnType<typeof createRows>
  readonly numbers: Record<NumberKind, number>
}

export function createWants(): Wants {
  return { rows: createRows(), numbers: { task_numbers: 0, session_numbers: 0, lease_fences: 0 } }
}

function createRows() {
  return {
    task: new Map<string, TaskId>(),
    /** The task under this number. */
    taskNumber: new Map<string, number>(),
    idempotencyKey: new Map<string, { readonly workspace: WorkspaceId; readonly key: string }>(),
    askingStep: new Map<string, AskingStep>(),
    tasksOfSession: new Map<string, SessionId>(),
    /** Every notice of the task. */
    noticesOfTask: new Map<string, TaskId>(),
    /** The notices that the step has claimed, with their tasks. */
    claimsOfStep: new Map<string, AskingStep>(),
    wait: new Map<string, WaitId>(),
    step: new Map<string, AskingStep>(),
    /** The completion number of the step that finished last in the run. */
    lastCompletion: new Map<string, { readonly taskId: TaskId; readonly run: number }>(),
    runsOfTask: new Map<string, TaskId>(),
    group: new Map<string, GroupId>(),
    /** The group of a task, if it has one, with the number of the group's arrivals. */
    groupOfTask: new Map<string, TaskId>(),
    groupsOfSession: new Map<string, SessionId>(),
    arrivalCount: new Map<string, GroupId>(),
    arrivals: new Map<string, GroupId>(),
    session: new Map<string, SessionId>(),
    /** The workspace of a session, for writers who do not change the session. */
    workspaceOfSession: new Map<string, SessionId>(),
    lease: new Map<string, string>(),
    document: new Map<string, DocumentKey>(),
  } as const
}

export type WantedKind = keyof Wants["rows"]
type Wanted<Kind extends WantedKind> =
  Wants["rows"][Kind] extends Map<string, infer Key extends string | number | object> ? Key : never

export function want<Kind extends WantedKind>(wants: Wants, kind: Kind, wanted: Wanted<Kind>): void {
  const known: Map<string, unknown> = wants.rows[kind]
  known.set(toKey(wanted), wanted)
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

export function missing<Kind extends WantedKind>(kind: Kind, wanted: Wanted<Kind>): Missing {
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
