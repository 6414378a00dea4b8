import { expect, test } from "vitest"
import { toErrorMessage } from "./error.ts"

test("the message of whatever was thrown is told, and one that cannot be read throws nothing", () => {
  const unreadable = Object.defineProperty(new Error("hidden"), "message", {
    get() {
      throw new Error("no")
    },
  })
  const nameless = { toString: undefined }
  expect([new Error("broken"), "text", 1, {}, unreadable, nameless].map(toErrorMessage)).toEqual([
    "broken",
    "text",
    "1",
    "an error without a message was thrown",
    "an error was thrown whose message cannot be read",
    "an error without a message was thrown",
  ])
})
