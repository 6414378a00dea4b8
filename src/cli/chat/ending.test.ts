import { expect, test } from "vitest"
import { createInterrupts } from "../start/interrupts.ts"
import { type EndingParts, shutDown } from "./ending.ts"

test("at the end of input, tasks that a report starts are waited for and reported, even if all others had ended", async () => {
  const course: string[] = []
  /** For each round, whether there is something to wait for. The report of the first round starts one task. */
  const going = [false, true, false, false]
  const parts = {
    meanwhile: {
      maxConcurrentTasks: 0,
      async close() {
        course.push("closed")
        return { kept: [], stopped: [], others: [] }
      },
    },
    desk: {
      blocked: { byQuestion: async () => new Map() },
      inbox: { list: async () => [] },
      sessions: { isKept: async () => false },
      ended: { kept: async () => {} },
    },
    screen: { print() {} },
    interrupts: createInterrupts(),
    announcer: {
      news: {
        going: async () => [],
        departure: async () => ({ here: [], queued: [], elsewhere: [], turns: [], own: new Set() }),
        async allEnded() {
          const hasWaited = going.shift() ?? false
          if (hasWaited) course.push("its task ended")
          return hasWaited
        },
        close() {},
      },
    },
    conversation: {
      session: { reported: async () => void course.push("reported"), promote: async () => [] },
      unwrittenStops: () => [],
      answering: () => new Set(),
      unsaid: () => [],
      lost: () => [],
      allAnswered: async () => {},
      close() {},
    },
    leftTurns: { sessions: () => new Set(), allEnded: async () => {}, close() {} },
    givenBack: [],
    behindQuit: [],
    allShown: async () => {},
  } as unknown as EndingParts
  await shutDown(parts, "end of input", "keep")
  expect(course).toEqual(["reported", "its task ended", "reported", "closed"])
})
