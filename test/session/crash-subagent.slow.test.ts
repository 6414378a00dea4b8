import { expect, test } from "vitest"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../src/task/id.ts"
import { findBrokenConversation } from "../support/chaos/turn-conversation.ts"
import { describeTurnCrash, type ProcessCrash } from "../support/chaos/turn-crash.ts"
import { findRepeated } from "../support/chaos/turn-effects.ts"
import { createTurnHouse, type OpenHouse, type TurnHouse } from "../support/chaos/turn-house.ts"
import { readStoredSession } from "../support/chaos/turn-record.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"
import { CHILD_STEPS, FINAL_TEXT, SPAWN, toChild, toPrompt } from "../support/chaos/turn-story.ts"
import { withPatience } from "../support/patience.ts"

const STORY = "family"
const PROMPT = toPrompt(STORY, [[SPAWN, "look"], ["note"]])
const SESSION = "session-family" as SessionId

test("a crash anywhere in a subagent's turn, or in its parent's, repeats nothing that was finished in either", async () => {
  const { first, last } = await countPoints()
  const points = (["commit", "effect"] as const).flatMap((at) =>
    numbers(first[at] + 1, last[at]).flatMap((number): ProcessCrash[] => [
      { at, number, when: "before" },
      { at, number, when: "after" },
    ]),
  )
  for (const point of points) expect(await playRound(point), describeTurnCrash(point)).toEqual([])
})

const createHouse = (): TurnHouse => createTurnHouse({ plugins: [createSubagentPlugin({ directories: [] })] })

async function play({ runtime }: OpenHouse): Promise<void> {
  await (await runtime.createSession({ id: SESSION })).send(PROMPT)
}

async function countPoints() {
  const house = createHouse()
  try {
    const { life, opened } = await house.begin()
    const open = await opened
    const first = { commit: life.commits, effect: life.effects }
    await play(open)
    expect(house.effects).toContain(`asked ${toChild(STORY)} 2`)
    return { first, last: { commit: life.commits, effect: life.effects } }
  } finally {
    await house.remove()
  }
}

async function playRound(point: ProcessCrash): Promise<readonly string[]> {
  const house = createHouse()
  try {
    const { life, opened } = await house.begin(point)
    await withPatience(Promise.race([opened.then(play), life.over]), house.describeLive)
    life.end()
    const open = await (await house.begin()).opened
    await withPatience(finishTurn(open.runtime), house.describeLive)
    const found = await findViolations(house, open)
    await open.runtime.close()
    return found
  } finally {
    await house.remove()
  }
}

async function findViolations({ effects }: TurnHouse, { store }: OpenHouse): Promise<readonly string[]> {
  const parent = await readStoredSession(store, SESSION)
  if (!parent) return effects.map((effect) => `${effect} happened in a turn that nobody knows`)
  const { items } = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
  const children = items.filter(({ id }) => id !== SESSION)
  const [child] = await Promise.all(children.map(({ id }) => readStoredSession(store, id)))
  const counted = { crashes: 1, answers: 0 }
  const isOf = (story: string, keys: readonly string[]) => (effect: string) =>
    effect.startsWith(`asked ${story} `) || keys.some((key) => effect.endsWith(key))
  const [own, childs] = [
    effects.filter(isOf(STORY, ["0.look", "1.note"])),
    effects.filter(isOf(toChild(STORY), ["0.note", "1.look"])),
  ]
  return [
    ...(children.length === 1 ? [] : [`there are ${children.length} subagents`]),
    ...[parent, child].flatMap((session) => [
      ...findBrokenConversation(session?.messages ?? []),
      ...(session?.spoken.join() === FINAL_TEXT ? [] : [`the last words were ${session?.spoken.join(" / ")}`]),
      ...(session?.turns.map(({ status }) => status).join() === "completed" ? [] : ["the turn is not over once"]),
    ]),
    ...findRepeated({ ...counted, effects: own, story: STORY, steps: [["look"], ["note"]] }),
    ...findRepeated({ ...counted, effects: childs, story: toChild(STORY), steps: CHILD_STEPS }),
  ]
}

const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
