import { expect, test } from "vitest"
import { shorten } from "./shorten.ts"

test("a text that is too long ends with an ellipsis, and none becomes longer than allowed", () => {
  expect(shorten("four", 4)).toBe("four")
  expect(shorten("five!", 4)).toBe("fiv…")
})
