import { describe, expect } from "vitest"
import { createTask } from "./samples.ts"
import type { EngineTest } from "./subject.ts"

export function describeTime(test: EngineTest): void {
  describe("time", () => {
    test("a written time lies between the engine's time before and after the write", async ({ engine }) => {
      const before = engine.now()
      const { createdAt } = await createTask(engine)
      expect(createdAt).toBeGreaterThanOrEqual(before)
      expect(engine.now()).toBeGreaterThanOrEqual(createdAt)
      expect(engine.now()).toSatisfy(Number.isSafeInteger)
    })
  })
}
