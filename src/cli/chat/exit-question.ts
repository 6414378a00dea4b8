import { systemClock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { countOf, plain, shortId, toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { Desk } from "../../desk/desk.ts"
import type { TaskHere } from "../../desk/departure.ts"
import type { TaskNewsDesk } from "../../desk/task-news.ts"
import { isFirstProcess } from "../start/leave-work.ts"
import type { Conversation } from "./conversation.ts"
import type { Ending, Fate } from "./ending.ts"
import type { LeftTurns } from "./left-turns.ts"

/** A look at the store that takes longer than this asks nothing: the work is kept. */
const LOOK_PATIENCE_MS = 1_500
/** An answer whose last words were just shown has not ended in the store yet: it is nothing to ask about. */
const LAST_WORDS_MS = 300
const MOST_NAMED = 8

/** The work that leaving concerns. */
export interface LiveHere {
  /** Tasks that this program runs. */
  readonly tasks: readonly TaskHere[]
  /** How many tasks are queued that no other program would take. */
  readonly queued: number
  /** Answers that are under way. */
  readonly turns: number
  /** Those of them that stand still until the person at the prompt has answered. */
  readonly askingTurns: number
}

export interface ExitQuestionParts {
  readonly onExit: "ask" | Fate
  /** False without a person at a terminal, who could answer. */
  readonly canAsk: boolean
  readonly screen: Pick<Screen, "print" | "style">
  readonly findLive: () => Promise<LiveHere>
  readonly end: (ending: Ending, fate: Fate) => void
  /** Called when the question opens or closes: lines that are typed from then on have another meaning. */
  readonly onChange: (isOpen: boolean) => void
  /** The person stays, and has been told so. */
  readonly onStay: () => void
}

/** Asks once what leaving does to work that is under way. */
export interface ExitQuestion {
  /** Leaves, after a question if work is under way. Asked a second time, it leaves and keeps the work. */
  leave(ending: Ending): void
  /** Takes a line as the answer. False if nothing is asked. */
  take(line: string): boolean
  isOpen(): boolean
}

/** Leaving a second time, or while the store does not answer, keeps the work: nothing is lost by it. */
export function createExitQuestion(parts: ExitQuestionParts): ExitQuestion {
  const { onExit, canAsk, screen, end, onChange } = parts
  let asked: Ending | undefined
  let isOpen = false

  async function look(ending: Ending): Promise<void> {
    const over = AbortSignal.timeout(LOOK_PATIENCE_MS)
    const find = (): Promise<LiveHere | undefined> => unlessAborted(over, parts.findLive()).catch(() => undefined)
    const first = await find()
    const isOnlyAnswer = first !== undefined && first.turns > 0 && first.tasks.length + first.queued === 0
    if (isOnlyAnswer) await sleep(systemClock, LAST_WORDS_MS)
    const live = isOnlyAnswer ? await find() : first
    if (asked === undefined) return
    if (!live || live.tasks.length + live.queued + live.turns === 0) return end(ending, "keep")
    isOpen = true
    onChange(true)
    screen.print(formatQuestion(live, parts))
  }

  function close(): void {
    asked = undefined
    isOpen = false
    onChange(false)
  }

  return {
    leave(ending) {
      if (onExit !== "ask") return end(ending, onExit)
      if (!canAsk || asked !== undefined) return end(ending, "keep")
      asked = ending
      void look(ending)
    },
    isOpen: () => isOpen,
    take(line) {
      if (!isOpen || asked === undefined) return false
      const ending = asked
      switch (toAnswer(line)) {
        case "keep":
          end(ending, "keep")
          break
        case "stop":
          end(ending, "stop")
          break
        case "stay":
          close()
          screen.print(screen.style.dim("(you stay)"))
          parts.onStay()
          break
        case undefined:
          screen.print(screen.style.dim(HINT))
      }
      return true
    },
  }
}

interface LiveScope {
  readonly news: Pick<TaskNewsDesk, "departure">
  readonly conversation: Conversation | undefined
  readonly leftTurns: LeftTurns
  /** Sessions whose turns wait for the person at the prompt. */
  readonly asking: ReadonlySet<Conversation["session"]["id"]>
}

/** Leaves out what goes on by itself, and what other programs do. */
export async function findLiveHere(
  { workers }: Pick<Desk, "workers">,
  { news, conversation, leftTurns, asking }: LiveScope,
): Promise<LiveHere> {
  const { here, queued } = await news.departure()
  const takers = await Promise.all(queued.map((task) => workers.successors(task)))
  // A turn from before that goes on in the conversation itself is both.
  const turns = new Set([...leftTurns.sessions(), ...(conversation?.isAnswering() ? [conversation.session.id] : [])])
  return {
    tasks: here.filter(({ lifetime }) => lifetime !== "forever"),
    queued: takers.filter(({ length }) => length === 0).length,
    turns: turns.size,
    askingTurns: turns.intersection(asking).size,
  }
}

const HINT = "  (Enter or k: keep it going; s: stop it; n: stay here; Ctrl+C or Ctrl+D: keep it going)"
const HINT_OF_FIRST_PROCESS = "  (Enter: leave; n: stay here)"

function formatQuestion(live: LiveHere, { screen: { style } }: ExitQuestionParts): string {
  const { tasks, queued, askingTurns } = live
  const turns = live.turns - askingTurns
  const what = [
    ...(tasks.length > 0 ? [`${countOf(tasks.length, "task")} ${tasks.length === 1 ? "runs" : "run"}`] : []),
    ...(queued > 0 ? [`${countOf(queued, "task")} ${queued === 1 ? "is" : "are"} queued`] : []),
    ...(turns > 0 ? [turns === 1 ? "an answer is under way" : `${turns} answers are under way`] : []),
    ...(askingTurns > 0
      ? [`${countOf(askingTurns, "answer")} ${askingTurns === 1 ? "waits" : "wait"} for your decision`]
      : []),
  ]
  const names = tasks.slice(0, MOST_NAMED).map(({ id, title = "" }) => `  [${shortId(id)}] ${toLine(title)}`.trimEnd())
  const question = isFirstProcess()
    ? "Leave? This program is process 1 here, so its commands end with it; agents and answers go on at the next start."
    : "Leave, and keep it going?"
  const head = plain(`${what.join(", ")}. ${question}`)
  const hint = isFirstProcess() ? HINT_OF_FIRST_PROCESS : HINT
  return [...names, style.bold(`${head.charAt(0).toUpperCase()}${head.slice(1)}`), style.dim(hint)].join("\n")
}

function toAnswer(line: string): Fate | "stay" | undefined {
  const word = line.trim().toLowerCase()
  if (["", "k", "keep", "y", "yes", "/quit", "/exit"].includes(word)) return "keep"
  if (["s", "stop"].includes(word)) return "stop"
  return ["n", "no", "stay"].includes(word) ? "stay" : undefined
}
