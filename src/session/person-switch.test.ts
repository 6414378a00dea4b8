import { expect, test } from "vitest"
import type { PersonChannel } from "../plugin/person-port.ts"
import { createPersonSwitch } from "./person-switch.ts"

test("a front end that is attached twice is gone after one detach", () => {
  const person = createPersonSwitch()
  const terminal: PersonChannel = { name: "terminal", ask: async () => ({ isAnswered: false, reason: "busy" }) }
  person.attach(terminal)
  const detach = person.attach(terminal)
  expect(person.channel()).toBe(terminal)
  detach()
  expect(person.channel()).toBeNull()
})
