import { expect, test } from "vitest"
import { createControlC } from "./control-c.ts"

/** A chat in which something runs, if so, and so much is typed. */
function createChat({ runs, typed }: { runs: boolean; typed: string }) {
  const state = { runs, typed, hasLeft: false, printed: [] as string[] }
  const controlC = createControlC({
    prompt: {
      isTerminal: true,
      takeBack() {
        const hadText = state.typed !== ""
        state.typed = ""
        return hadText
      },
    },
    screen: { print: (line) => void state.printed.push(line) },
    questions: { decline: () => false },
    foreground: {
      abort() {
        const { runs: didRun } = state
        state.runs = false
        return didRun
      },
    },
    conversation: () => undefined,
    leave() {
      state.hasLeft = true
    },
  })
  return { state, press: controlC.press }
}

test("pressed again right after a stop, Ctrl+C leaves", () => {
  const { state, press } = createChat({ runs: true, typed: "" })
  press()
  expect(state).toMatchObject({ runs: false, hasLeft: false })
  press()
  expect(state.hasLeft).toBe(true)
})

test("right after a stop, Ctrl+C on a line that was begun takes it back and stays", () => {
  const { state, press } = createChat({ runs: true, typed: "" })
  press()
  state.typed = "other words"
  press()
  expect(state).toMatchObject({ typed: "", hasLeft: false })
})

test("on a line that was begun Ctrl+C takes it back, and on an empty one it warns before it leaves", () => {
  const { state, press } = createChat({ runs: false, typed: "words" })
  press()
  expect(state).toMatchObject({ typed: "", hasLeft: false, printed: [] })
  press()
  expect(state).toMatchObject({ hasLeft: false, printed: [expect.stringContaining("again leaves")] })
  press()
  expect(state.hasLeft).toBe(true)
})
