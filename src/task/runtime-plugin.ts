import type { TaskDetails } from "./record.ts"

/** Stands for the plugin on the records of turns, gates and questions. None can have it: names begin with a letter. */
export const RUNTIME_PLUGIN = "#runtime"

/** A gate or a question: it is for a person to end, and not work that goes on. */
export function isAskedOfPerson({ plugin, kind }: Pick<TaskDetails, "plugin" | "kind">): boolean {
  return plugin === RUNTIME_PLUGIN && kind !== "turn"
}
