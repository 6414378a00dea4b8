import { describe, expect, test } from "vitest"
import { lazily } from "./lazily.ts"

describe("lazily", () => {
  test("makes nothing before the first call, and then one value for all calls", () => {
    let count = 0
    const value = lazily(() => ({ number: ++count }))
    expect(count).toBe(0)
    expect(value()).toBe(value())
    expect(count).toBe(1)
  })

  test("tries again after a throw", () => {
    let count = 0
    const value = lazily(() => {
      if (++count === 1) throw new Error("not yet")
      return "made"
    })
    expect(() => value()).toThrow("not yet")
    expect(value()).toBe("made")
  })
})
