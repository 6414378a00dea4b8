import { expect, test } from "vitest"
import { systemClock } from "../../base/clock.ts"
import type { OutputChunk } from "../../plugin/output.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { followOutput } from "./deliver-output.ts"

function toChunk(text: string, offset: number): OutputChunk {
  const nextOffset = offset + text.length
  return { text, offset, nextOffset, totalBytes: nextOffset, droppedBefore: null, restartedAt: null, isComplete: false }
}

test("a follower of output goes on after failed looks, and warns once", async () => {
  const warnings: string[] = []
  const log = { warn: (message: string) => warnings.push(message) }
  const printed = Promise.withResolvers<string>()
  let looks = 0
  async function read(offset: number): Promise<OutputChunk> {
    looks += 1
    if (looks < 3) throw new Error("the store is away")
    return toChunk(looks === 3 ? "back" : "", offset)
  }
  const scope = { clock: systemClock, log } as unknown as RunnerScope
  const follower = followOutput(scope, read, printed.resolve)
  expect(await printed.promise).toBe("back")
  await follower.finish({ isComplete: true })
  expect(warnings).toEqual(["output could not be read; trying again"])
})

test("a follower that is stopped passes nothing more on", async () => {
  const isReading = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<OutputChunk>()
  const scope = { clock: systemClock } as unknown as RunnerScope
  const told: string[] = []
  function read(): Promise<OutputChunk> {
    isReading.resolve()
    return answer.promise
  }
  const follower = followOutput(scope, read, (text) => told.push(text))
  await isReading.promise
  follower.stop()
  answer.resolve(toChunk("late", 0))
  await follower.finish({ isComplete: true })
  expect(told).toEqual([])
})
