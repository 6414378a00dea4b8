import { expect, test } from "vitest"
import { toHarmless } from "./harmless.ts"

const listeners: Readonly<Record<string, (given: string) => unknown>> = {
  throws(): void {
    throw new Error("broken")
  },
  rejects: async () => Promise.reject(new Error("broken")),
}

test.each(Object.entries(listeners))(
  "a listener that %s is told of, with what it was told, and does nothing else",
  async (_, listener) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    toHarmless(listener, (error, given) => resolve([error, given]))("this")
    expect(await promise).toEqual([new Error("broken"), "this"])
  },
)

test("a listener that does its work is called with everything, and nobody waits for it", () => {
  const heard: unknown[] = []
  const harmless = toHarmless<readonly string[]>(
    async (...given: readonly string[]) => void heard.push(...given),
    () => heard.push("failed"),
  )
  expect(harmless("this", "that")).toBeUndefined()
  expect(heard).toEqual(["this", "that"])
})
