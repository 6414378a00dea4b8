import { expect, test } from "vitest"
import { formatCall } from "./format-call.ts"

test("characters that show nothing, or act on a terminal, are codes in the line of a call", () => {
  const command = "echo a\u200bb\u{e0041}c\u2800d\u034fe\u{e0100}f\u001b[2Kg\nh"
  expect(formatCall({ tool: "run_command", input: { command } })).toBe(
    "run_command echo a\\u{200b}b\\u{e0041}c\\u{2800}d\\u{34f}e\\u{e0100}f\\u{1b}[2Kg h",
  )
})
