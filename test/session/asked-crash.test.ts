import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { PersonChannel } from "../../src/plugin/person-port.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { beginLife, type LifeOptions, type LivingRuntime } from "../support/session/lives.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"

const calls = (...names: readonly string[]): ScriptStep => ({
  calls: names.map((name) => ({ tool: "gated", input: { name } })),
})
const BECAUSE = "use another folder"
const DENIAL = `no, ${BECAUSE}`

/** A person who is asked and never answers. */
const silent: PersonChannel = { name: "test", ask: () => new Promise(() => {}) }

const answering = (value: string): PersonChannel => ({
  name: "test",
  ask: async () => ({ isAnswered: true, value, by: "test" }),
})
const yes = answering("yes")

const isUnbegun = (operations: readonly Operation[]): boolean =>
  operations.some((each) => each.op === "step.finish" && JSON.stringify(each.result).includes("unbegun"))

const isBegunAgain = (operations: readonly Operation[]): boolean =>
  operations.some((each) => each.op === "step.start" && each.key.endsWith("/again"))

const toldOf = ({ model }: LivingRuntime): readonly string[] =>
  resultsOf(model.requests[0]?.messages ?? []).map(resultText)

function open(onCrash: "fail" | "ask" | "retry", script = calls("one")) {
  const folder = createFolder()
  const gated = createGatedTool({ onCrash, effects: ["write"], background: { mode: "never" } })
  const options = { tools: [gated.tool], permissions: { rules: [] } }
  let number = 0
  const live = (own: Partial<LifeOptions>) => beginLife(folder, ++number, { script: ["Done."], ...options, ...own })
  return {
    gated,
    live,
    /** Begins the first life, which ends where it is told to. */
    async begin(own: Partial<LifeOptions>): Promise<LivingRuntime> {
      const first = await live({ script: [script], ...own })
      void (await first.runtime.createSession()).send("Go.").catch(() => {})
      return first
    },
  }
}

const isOver = ({ life }: LivingRuntime) => eventually("the life is over", () => life.isOver)

test.each(["fail", "ask", "retry"] as const)(
  "a call about which a person was asked when its process died is asked about again, and runs once (%s)",
  async (onCrash) => {
    const { gated, live, begin } = open(onCrash)
    await isOver(await begin({ person: silent, ending: { when: "after", isHere: isUnbegun } }))
    await isOver(await live({ person: silent, ending: { when: "after", isHere: isUnbegun } }))
    expect(gated.calls).toHaveLength(0)

    const third = await live({ person: yes })
    ;(await gated.call(1)).finish("done")
    await third.isAsked(1)
    expect(toldOf(third)).toEqual(["done"])
    expect(await third.store.waits({ isOpen: true })).toEqual([])
    expect(gated.calls).toHaveLength(1)
  },
)

test.each(["before", "after"] as const)(
  "a call that a person allowed has begun once its begin is kept: its process died %s that commit",
  async (when) => {
    const { gated, live, begin } = open("fail")
    await isOver(await begin({ person: yes, ending: { when, isHere: isBegunAgain } }))
    expect(gated.calls).toHaveLength(0)

    const second = await live({ person: yes })
    if (when === "before") (await gated.call(1)).finish("done")
    await second.isAsked(1)
    expect(toldOf(second)[0]).toContain(when === "before" ? "done" : "not known")
    expect(gated.calls).toHaveLength(when === "before" ? 1 : 0)
  },
)

test("a call that was allowed and ran when its process died follows its tool's onCrash", async () => {
  const { gated, live, begin } = open("fail")
  const first = await begin({ person: yes })
  await gated.call(1)
  first.life.end()
  const second = await live({ person: yes })
  await second.isAsked(1)
  expect(toldOf(second)[0]).toContain("not known")
  expect(gated.calls).toHaveLength(1)
})

test("a refused call is not asked about again, while another call of the same message is", async () => {
  const { gated, live, begin } = open("fail", calls("one", "other"))
  let asked = 0
  const person: PersonChannel = {
    name: "test",
    ask: (question, signal) => (++asked === 1 ? answering(DENIAL) : silent).ask(question, signal),
  }
  const isRefusal = (operations: readonly Operation[]): boolean => JSON.stringify(operations).includes(BECAUSE)
  await isOver(await begin({ person, ending: { when: "after", isHere: isRefusal } }))

  const second = await live({ person: yes })
  ;(await gated.call(1)).finish("done")
  await second.isAsked(1)
  const [refused, done] = toldOf(second)
  expect(refused).toContain(BECAUSE)
  expect(done).toBe("done")
})
