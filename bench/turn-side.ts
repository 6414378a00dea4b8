export const CONVERSATIONS = 200
export const TURNS_EACH = 10
/** Conversations that go on at the same time, as in a process that serves several people. */
export const AT_ONCE = 4
export const TURNS = CONVERSATIONS * TURNS_EACH

export const SIDES = ["memory", "normal", "full", "generateText", "streamText"] as const
export type SideName = (typeof SIDES)[number]

/** Whoever can hold conversations. */
export interface Side extends AsyncDisposable {
  converse(): Promise<Talk>
  /** Commits so far; zero where nothing is kept. */
  commits(): number
}

export interface Talk extends AsyncDisposable {
  /** Takes a turn and resolves with the model's last word. */
  ask(question: string): Promise<string>
}

/** Takes all turns and returns how long they took, in milliseconds. */
export async function takeTurns(side: Side, question: string, answer: string): Promise<number> {
  const startedAt = performance.now()
  let begun = 0
  const converse = async (): Promise<void> => {
    while (begun < CONVERSATIONS) {
      begun += 1
      await using talk = await side.converse()
      for (let turn = 0; turn < TURNS_EACH; turn++) {
        const said = await talk.ask(question)
        if (said !== answer) throw new Error(`the model's last word was ${JSON.stringify(said)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, converse))
  return performance.now() - startedAt
}
