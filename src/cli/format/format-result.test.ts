import { expect, test } from "vitest"
import type { Task } from "./format.ts"
import { formatResultHead } from "./format-result.ts"

const LINES = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n")

function toTask(kind: "tool" | "agent", payload: unknown): Task {
  return { id: "1f0c5a7e-0000", kind, patch: { payload, digest: [] } } as unknown as Task
}

test("the last lines of a command's output are shown, and the first lines of an agent's answer", () => {
  expect(formatResultHead(toTask("tool", { output: LINES }))).toBe(
    "  line 5\n  line 6\n  line 7\n  line 8\n  line 9\n  (its last lines; /output 1f0c5a7e shows all that it printed)",
  )
  expect(formatResultHead(toTask("agent", { answer: LINES }))).toBe(
    "  line 1\n  line 2\n  line 3\n  line 4\n  line 5\n  (4 more; /task 1f0c5a7e shows its answer)",
  )
  expect(formatResultHead(toTask("tool", { output: "one\n" }))).toBe("  one")
})
