import { expect, test } from "vitest"
import { createControlC } from "./control-c.ts"

/** A chat with something running or not, and with this text typed. */
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
    isLeaving: () => false,
    onExit: "ask",
    leave() {
      state.hasLeft = true
    },
  })
  return { state, press: controlC.press }
}

test("Ctrl+C pressed again right after a stop leaves", () => {
  const { state, press } = createChat({ runs: true, typed: "" })
  press()
  expect(state).toMatchObject({ runs: false, hasLeft: false })
  press()
  expect(state.hasLeft).toBe(true)
})

test("right after a stop, Ctrl+C clears a line that was begun and does not leave", () => {
  const { state, press } = createChat({ runs: true, typed: "" })
  press()
  state.typed = "other words"
  press()
  expect(state).toMatchObject({ typed: "", hasLeft: false })
})

test("Ctrl+C clears a line that was begun, and on an empty line warns before it leaves", () => {
  const { state, press } = createChat({ runs: false, typed: "words" })
  press()
  expect(state).toMatchObject({ typed: "", hasLeft: false, printed: [] })
  press()
  expect(state).toMatchObject({ hasLeft: false, printed: [expect.stringContaining("again leaves")] })
  press()
  expect(state.hasLeft).toBe(true)
})
