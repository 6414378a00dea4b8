import type { HasActive } from "./scope.ts"
import type { ActiveRun } from "./active-run.ts"

/** The run itself, then whoever asked for it, as far as they run in this process: a call, its turn, its agent, … */
export function runsAbove({ active }: HasActive, run: ActiveRun): ActiveRun[] {
  const found: ActiveRun[] = []
  for (let next: ActiveRun | undefined = run; next; next = next.parentTask ? active.get(next.parentTask) : undefined) {
    found.push(next)
  }
  return found
}
