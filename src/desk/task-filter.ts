import { MeanwhileError } from "../base/error.ts"
import type { WorkspaceId } from "../task/id.ts"
import { LIVE_STATUSES, type RunStatus, STOPPABLE_STATUSES, TERMINAL_STATUSES } from "../task/lifecycle.ts"
import { TASK_KINDS, type TaskKind, WORK_KINDS } from "../task/record.ts"
import type { TaskFilter } from "../plugin/task-filter.ts"
import { toStoredFilter } from "../runner/result/stored-filter.ts"
import type { TaskFilter as StoredTaskFilter } from "../task/store.ts"

/** Selects tasks of the desk's workspace. Every part given must hold. */
export interface DeskFilter extends Omit<TaskFilter, "workspace" | "kinds" | "statuses"> {
  /** `work`: everything but turns, which are the conversations themselves. */
  readonly kinds?: "work" | readonly TaskKind[]
  /** `stoppable`: live, and not asked to stop yet. */
  readonly statuses?: "live" | "stoppable" | "ended" | readonly RunStatus[]
}

/** Refused as `invalid_input` for a word that is no kind or status: a filter that is ignored would select everything. */
export function toTaskFilter(workspace: WorkspaceId, { kinds, statuses, ...filter }: DeskFilter): StoredTaskFilter {
  return toStoredFilter({
    ...filter,
    workspace,
    ...(kinds !== undefined && { kinds: toWords("kinds", kinds, KINDS, TASK_KINDS) }),
    ...(statuses !== undefined && { statuses: toWords("statuses", statuses, STATUSES, ALL_STATUSES) }),
  })
}

const KINDS: ReadonlyMap<unknown, readonly TaskKind[]> = new Map([["work", WORK_KINDS]])
const STATUSES: ReadonlyMap<unknown, readonly RunStatus[]> = new Map<unknown, readonly RunStatus[]>([
  ["live", LIVE_STATUSES],
  ["stoppable", STOPPABLE_STATUSES],
  ["ended", TERMINAL_STATUSES],
])
const ALL_STATUSES: readonly RunStatus[] = [...LIVE_STATUSES, ...TERMINAL_STATUSES]

function toWords<Word extends string>(
  field: "kinds" | "statuses",
  given: string | readonly Word[],
  sets: ReadonlyMap<unknown, readonly Word[]>,
  known: readonly Word[],
): readonly Word[] {
  const set = sets.get(given)
  if (set) return set
  if (isListOf(given, known)) return given
  const choices = [...sets.keys()].map((name) => `"${String(name)}"`).join(", ")
  const message = `\`${field}\` of a filter is ${choices}, or a list of ${known.join(", ")}.`
  throw new MeanwhileError("invalid_input", message, { field })
}

function isListOf<Word extends string>(given: unknown, known: readonly Word[]): given is readonly Word[] {
  return Array.isArray(given) && given.every((word: unknown) => known.some((one) => one === word))
}
