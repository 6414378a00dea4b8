import { isMeanwhileError } from "../../../base/error.ts"
import type { BackgroundCall } from "./background-call.ts"

export interface Acknowledged {
  readonly known: readonly string[]
  /** The ids that name no task. */
  readonly unknown: readonly string[]
  /** How many had not been used before. */
  readonly used: number
}

/** One id that a model remembers wrongly does not have the results of the others told again. */
export async function acknowledge(
  { context: { tasks } }: BackgroundCall,
  ids: readonly string[],
): Promise<Acknowledged> {
  const isKnown = await Promise.all(
    ids.map((id) =>
      tasks.get(id).then(
        () => true,
        (error: unknown) => !isMeanwhileError(error, "not_found") && !isMeanwhileError(error, "ambiguous_id"),
      ),
    ),
  )
  const used = await tasks.acknowledge(ids)
  return { known: ids.filter((_, index) => isKnown[index]), unknown: ids.filter((_, index) => !isKnown[index]), used }
}
