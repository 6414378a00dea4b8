import { parse } from "../../../plugin/schema.ts"
import type { Tool } from "../../../plugin/tool.ts"
import type { CapableTool } from "./capable-tool.ts"

/** Says which tool a call starts, and with what input. */
export interface StartedCall<Input> {
  /** Undefined if the call starts no tool, or none of `capable`. */
  find(input: Input, capable: readonly CapableTool[]): { readonly tool: Tool; readonly input: unknown } | undefined
  /** The call's input, with `started` as the input of the tool that it starts. */
  change(input: Input, started: unknown): unknown
}

type Placement<Input> = Pick<Tool<Input>, "pin" | "isHere" | "folderOf">

/** A start that waits for a person belongs to the same processes as the tool call that it starts. */
export function toPlacement<Input>(
  { find, change }: StartedCall<Input>,
  capable: () => readonly CapableTool[],
): Required<Placement<Input>> {
  return {
    pin(input) {
      const started = find(input, capable())
      const parsed = started && parse(started.tool.input, started.input)
      return started?.tool.pin && parsed?.success ? change(input, started.tool.pin(parsed.data)) : input
    },
    // The input is not parsed: a schema may refuse a place that is not here.
    isHere(pinned) {
      const started = find(pinned, capable())
      return started?.tool.isHere?.(started.input) ?? true
    },
    // Undefined where two tools may judge the same folder differently: the verdict on a folder would count for all
    // starts that name it.
    folderOf(pinned) {
      const started = find(pinned, capable())
      const placed = capable().filter(({ tool }) => tool.isHere)
      return placed.length > 1 ? undefined : started?.tool.folderOf?.(started.input)
    },
  }
}
