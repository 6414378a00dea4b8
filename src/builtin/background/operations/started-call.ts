import type { Tool } from "../../../plugin/tool.ts"
import type { CapableTool } from "./capable-tool.ts"

/** How a tool that starts another one says which, and with what. */
export interface StartedCall<Input> {
  /** Undefined: it starts no tool, or none of these. */
  find(input: Input, capable: readonly CapableTool[]): { readonly tool: Tool; readonly input: unknown } | undefined
  /** Its input, with this for what it starts. */
  change(input: Input, started: unknown): unknown
}

type Placement<Input> = Pick<Tool<Input>, "pin" | "isHere" | "folderOf">

/** A start that waits for a person belongs where what it starts does. */
export function toPlacement<Input>(
  { find, change }: StartedCall<Input>,
  capable: () => readonly CapableTool[],
): Required<Placement<Input>> {
  return {
    pin(input) {
      const started = find(input, capable())
      const parsed = started?.tool.input.safeParse(started.input)
      return started?.tool.pin && parsed?.success ? change(input, started.tool.pin(parsed.data)) : input
    },
    // As it is: a schema may refuse what is not here.
    isHere(pinned) {
      const started = find(pinned, capable())
      return started?.tool.isHere?.(started.input) ?? true
    },
    // A finding about a folder would be taken to hold for all starts that name it, and two tools may differ over the
    // same folder.
    folderOf(pinned) {
      const started = find(pinned, capable())
      const placed = capable().filter(({ tool }) => tool.isHere)
      return placed.length > 1 ? undefined : started?.tool.folderOf?.(started.input)
    },
  }
}
