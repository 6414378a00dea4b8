import { expect, test } from "vitest"
import type { OnCrash } from "../../task/step.ts"
import { decideOnCrash, decideTurnOnCrash } from "./on-crash.ts"

/** Every set of steps in flight, two of them in both orders, and what becomes of a run and of a turn with them. */
const IN_FLIGHT: readonly (readonly [inFlight: readonly OnCrash[], run: OnCrash, turn: OnCrash])[] = [
  [["fail"], "fail", "retry"],
  [["retry"], "retry", "retry"],
  [["ask"], "ask", "ask"],
  [["fail", "fail"], "fail", "retry"],
  [["fail", "retry"], "fail", "retry"],
  [["retry", "fail"], "fail", "retry"],
  [["fail", "ask"], "fail", "ask"],
  [["ask", "fail"], "fail", "ask"],
  [["retry", "retry"], "retry", "retry"],
  [["retry", "ask"], "ask", "ask"],
  [["ask", "retry"], "ask", "ask"],
  [["ask", "ask"], "ask", "ask"],
  [["fail", "retry", "ask"], "fail", "ask"],
  [["ask", "retry", "fail"], "fail", "ask"],
]

test.each(IN_FLIGHT)("after a crash with %j in flight a run will %s, and a turn will %s", (inFlight, run, turn) => {
  for (const betweenSteps of ["fail", "retry", "ask"] as const) expect(decideOnCrash(inFlight, betweenSteps)).toBe(run)
  expect(decideTurnOnCrash(inFlight)).toBe(turn)
})

test("after a crash between steps the run itself decides, and a turn goes on", () => {
  expect(decideOnCrash([], "fail")).toBe("fail")
  expect(decideOnCrash([], "retry")).toBe("retry")
  expect(decideOnCrash([], "ask")).toBe("ask")
  expect(decideTurnOnCrash([])).toBe("retry")
})
