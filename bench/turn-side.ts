export const CONVERSATIONS = 200
export const TURNS_EACH = 10
export const TURNS = CONVERSATIONS * TURNS_EACH

export const SIDES = ["memory", "normal", "full", "generateText", "streamText"] as const
export type SideName = (typeof SIDES)[number]

export interface CommitCounts {
  readonly commits: number
  /** The commits that were answered only once they were on disk. */
  readonly waitingCommits: number
}

/** A library under measurement that can hold conversations: Meanwhile or the AI SDK. */
export interface Side extends AsyncDisposable {
  converse(): Promise<Talk>
  /** The commits so far; 0 for a side that keeps nothing. */
  commits(): CommitCounts
}

export interface Talk extends AsyncDisposable {
  /** Takes a turn and resolves with the model's last word. */
  ask(question: string): Promise<string>
}

/** Takes all turns, with `atOnce` conversations at a time, and returns how long that took, in milliseconds. */
export async function takeTurns(
  side: Side,
  { question, answer, atOnce }: { readonly question: string; readonly answer: string; readonly atOnce: number },
): Promise<number> {
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
  await Promise.all(Array.from({ length: atOnce }, converse))
  return performance.now() - startedAt
}
