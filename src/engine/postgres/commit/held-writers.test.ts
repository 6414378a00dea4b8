import { afterEach, expect, test, vi } from "vitest"
import { createHeldWriters } from "./held-writers.ts"

afterEach(() => {
  vi.useRealTimers()
})

/** Writers are letters. Those in `locked` are held up by somebody. */
function openHeld(locked: Set<string>) {
  const [attempts, answered, refused]: [string[], string[], string[]] = [[], [], []]
  const held = createHeldWriters<string>({
    async attempt(group, lockTimeoutMs) {
      attempts.push(group.join(""))
      await Promise.resolve()
      if (group.some((letter) => locked.has(letter))) {
        vi.advanceTimersByTime(lockTimeoutMs)
        onAttempt(group.join(""))
        return "locked"
      }
      answered.push(...group)
      return undefined
    },
    refuse: (letter, heldUpBy) => refused.push(`${letter} ${String(heldUpBy)}`),
  })
  let onAttempt: (group: string) => void = () => {}
  return { held, attempts, answered, refused, onHeldUp: (listener: typeof onAttempt) => (onAttempt = listener) }
}

test("halving finds the writers that are not held up, and the others follow once they are free", async () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  const locked = new Set("d")
  const { held, attempts, answered, onHeldUp } = openHeld(locked)
  let waits = 0
  onHeldUp((group) => {
    if (group === "d" && ++waits === 3) locked.clear()
  })
  held.add("abcdefgh".split(""))
  expect(held.hasAny()).toBe(true)
  await held.allAnswered()
  expect(attempts).toEqual(["abcd", "ab", "cd", "c", "d", "efgh", "d", "d", "d"])
  expect(answered).toEqual("abcefghd".split(""))
  expect(held.hasAny()).toBe(false)
})

test("a later writer does not stand behind those that wait, and all that wait are tried together again", async () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  const locked = new Set("ab")
  const { held, attempts, answered, onHeldUp } = openHeld(locked)
  onHeldUp((group) => {
    if (group === "a") held.add(["n"])
    if (group === "b") locked.clear()
  })
  held.add(["a", "b"])
  await held.allAnswered()
  expect(attempts).toEqual(["a", "n", "b", "ab"])
  expect(answered).toEqual(["n", "a", "b"])
})

test("a writer that waits in vain is refused alone, with what holds it up", async () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  const locked = new Set("x")
  const { held, answered, refused } = openHeld(locked)
  held.add("axb".split(""))
  await held.allAnswered()
  expect(answered.toSorted()).toEqual(["a", "b"])
  expect(refused).toEqual(["x locked"])
})
