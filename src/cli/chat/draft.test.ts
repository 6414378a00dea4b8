import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createDraft } from "./draft.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open() {
  const line = { line: "", write: () => {} }
  const onOpen = vi.fn()
  const onStall = vi.fn()
  return { draft: createDraft({ prompt: line, onOpen, onStall }), onOpen, onStall }
}

test("a question opens after a pause without keys", () => {
  const { draft, onOpen } = open()
  draft.begin(false)
  vi.advanceTimersByTime(499)
  draft.key()
  vi.advanceTimersByTime(499)
  expect(onOpen).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(draft.question).toBe("open")
})

test("no question opens in the middle of a paste, however slowly it comes, not even one that was asked for", () => {
  const { draft, onOpen } = open()
  draft.beginPaste()
  draft.begin(true)
  vi.advanceTimersByTime(9_000)
  draft.key()
  vi.advanceTimersByTime(9_000)
  expect(onOpen).not.toHaveBeenCalled()
  draft.endPaste()
  vi.advanceTimersByTime(500)
  expect(onOpen).toHaveBeenCalledOnce()
})

test("a paste that never ends holds up a question only until the next key, which is no answer", () => {
  const { draft, onOpen, onStall } = open()
  draft.beginPaste()
  draft.begin(false)
  vi.advanceTimersByTime(60_000)
  expect(onStall).toHaveBeenCalledOnce()
  expect(draft.question).toBe("settling")
  draft.key()
  expect(draft.question).toBe("settling")
  vi.advanceTimersByTime(500)
  expect(onOpen).toHaveBeenCalledOnce()
})
