import { systemClock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { countOf, plain, type TaskId } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { Desk } from "../../desk/desk.ts"
import type { Departure, TaskHere } from "../../desk/departure.ts"
import type { TaskNewsDesk } from "../../desk/task-news.ts"
import { isFirstProcess } from "../start/leave-work.ts"
import type { Conversation } from "./conversation.ts"
import { type Ending, type Fate, nameTask } from "./ending.ts"
import type { LeftTurns } from "./left-turns.ts"

/** A look at the store that takes longer than this asks nothing: the work is kept. */
const LOOK_PATIENCE_MS = 1_500
/** An answer whose last words were just shown has not ended in the store yet: it is nothing to ask about. */
const LAST_WORDS_MS = 300
const MOST_NAMED = 8

/** The work that leaving concerns. */
export interface LiveHere {
  /** Tasks that a stop ends, by where they are. A `queued` one may be taken by another program. */
  readonly tasks: {
    readonly here: readonly TaskHere[]
    readonly elsewhere: readonly TaskHere[]
    readonly queued: readonly TaskHere[]
  }
  /** How many of the queued ones no other program would take. */
  readonly untaken: number
  /** The answer of the conversation; `asking`: it stands still until the person at the prompt has answered. */
  readonly answer: "under way" | "asking" | null
  /** Turns of other conversations that a stop ends. */
  readonly turns: Departure["turns"]
  /** What this program runs and does not stop: nobody has asked for it in this chat. */
  readonly others: { readonly tasks: number; readonly turns: number }
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
  /** The tasks and turns that were shown as those that a stop ends. */
  named(): ReadonlySet<TaskId>
}

/** Leaving a second time, or while the store does not answer, keeps the work: nothing is lost by it. */
export function createExitQuestion(parts: ExitQuestionParts): ExitQuestion {
  const { onExit, canAsk, screen, end, onChange } = parts
  let asked: Ending | undefined
  let isOpen = false
  let named: ReadonlySet<TaskId> = new Set()

  async function look(ending: Ending): Promise<void> {
    const over = AbortSignal.timeout(LOOK_PATIENCE_MS)
    const find = (): Promise<LiveHere | undefined> => unlessAborted(over, parts.findLive()).catch(() => undefined)
    const first = await find()
    const isOnlyAnswer = first !== undefined && first.answer !== null && countBeside(first) === 0
    if (isOnlyAnswer) await sleep(systemClock, LAST_WORDS_MS)
    const live = isOnlyAnswer ? await find() : first
    if (asked === undefined) return
    if (!live || (live.answer === null && countBeside(live) === 0)) return end(ending, "keep")
    isOpen = true
    named = new Set([...listTasks(live), ...live.turns].map(({ id }) => id))
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
    named: () => named,
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

type SessionOfChat = Pick<Conversation["session"], "id">

interface LiveScope {
  readonly news: Pick<TaskNewsDesk, "departure">
  readonly conversation: (Pick<Conversation, "answering"> & { readonly session: SessionOfChat }) | undefined
  readonly leftTurns: Pick<LeftTurns, "sessions">
  /** Sessions whose turns wait for the person at the prompt. */
  readonly asking: ReadonlySet<SessionOfChat["id"]>
}

/** Leaves out what goes on by itself, and what other programs do for others. */
export async function findLiveHere(
  { workers }: { readonly workers: Pick<Desk["workers"], "successors"> },
  { news, conversation, leftTurns, asking }: LiveScope,
): Promise<LiveHere> {
  const { here, queued, elsewhere, own, takenOver, ...more } = await news.departure()
  const isStopped = ({ id, lifetime }: TaskHere): boolean =>
    lifetime !== "forever" && (own.has(id) || takenOver.has(id))
  const tasks = {
    here: here.filter(isStopped),
    elsewhere: elsewhere.filter(isStopped),
    queued: queued.filter(isStopped),
  }
  const takers = await Promise.all(tasks.queued.map((task) => workers.successors(task)))
  const id = conversation?.session.id
  const isAnswering = id !== undefined && (leftTurns.sessions().has(id) || conversation?.answering().has(id))
  const otherTurns = more.turns.filter(({ session }) => session !== id)
  const turns = otherTurns.filter(isStopped)
  const lasting = here.filter(({ lifetime }) => lifetime !== "forever")
  return {
    tasks,
    untaken: takers.filter(({ length }) => length === 0).length,
    answer: isAnswering ? (asking.has(id) ? "asking" : "under way") : null,
    turns,
    others: { tasks: lasting.length - tasks.here.length, turns: otherTurns.length - turns.length },
  }
}

const listTasks = ({ tasks: { here, elsewhere, queued } }: LiveHere): readonly TaskHere[] => [
  ...here,
  ...elsewhere,
  ...queued,
]

/** What a person is asked about, beside the answer. The rest goes on elsewhere, whether or not this program stays. */
const countBeside = ({ tasks, untaken, turns, others }: LiveHere): number =>
  tasks.here.length + untaken + turns.length + (isFirstProcess() ? others.tasks + others.turns : 0)

const HINT = "  (Enter or k: keep it going; s: stop it; n: stay here; Ctrl+C or Ctrl+D: keep it going)"
const HINT_OF_FIRST_PROCESS = "  (Enter: leave; n: stay here)"

function formatQuestion(live: LiveHere, { screen: { style } }: ExitQuestionParts): string {
  const { tasks, answer, others } = live
  const answers = live.turns.length + (answer === "under way" ? 1 : 0)
  const [running, elsewhere, queued] = [tasks.here.length, tasks.elsewhere.length, tasks.queued.length]
  const what = [
    ...(running > 0 ? [`${countOf(running, "task")} ${running === 1 ? "runs" : "run"}`] : []),
    ...(elsewhere > 0 ? [`${countOf(elsewhere, "task")} ${elsewhere === 1 ? "runs" : "run"} elsewhere`] : []),
    ...(queued > 0 ? [`${countOf(queued, "task")} ${queued === 1 ? "is" : "are"} queued`] : []),
    ...(answers > 0 ? [answers === 1 ? "an answer is under way" : `${answers} answers are under way`] : []),
    ...(answer === "asking" ? ["1 answer waits for your decision"] : []),
  ]
  const question = isFirstProcess()
    ? "Leave? This program is process 1 here, so its commands end with it; agents and answers go on at the next start."
    : "Leave, and keep it going?"
  const head = plain(what.length === 0 ? question : `${what.join(", ")}. ${question}`)
  const hint = isFirstProcess() ? HINT_OF_FIRST_PROCESS : HINT
  return [
    ...nameWork([...listTasks(live), ...live.turns]),
    style.bold(`${head.charAt(0).toUpperCase()}${head.slice(1)}`),
    ...describeOthers(others).map(style.dim),
    style.dim(hint),
  ].join("\n")
}

function nameWork(work: readonly TaskHere[]): readonly string[] {
  const names = work.slice(0, MOST_NAMED).map(nameTask)
  const more = work.length - names.length
  return more > 0 ? [...names, `  and ${more} more`] : names
}

function describeOthers({ tasks, turns }: LiveHere["others"]): readonly string[] {
  const what = [...(tasks > 0 ? [countOf(tasks, "task")] : []), ...(turns > 0 ? [countOf(turns, "answer")] : [])]
  if (what.length === 0) return []
  const [was, is, goes] = tasks + turns === 1 ? ["was", "is", "goes"] : ["were", "are", "go"]
  const fate = isFirstProcess() ? `${is} under way here, too` : `${goes} on in any case`
  return [`  (${what.join(" and ")} that ${was} not asked for in this chat ${fate})`]
}

function toAnswer(line: string): Fate | "stay" | undefined {
  const word = line.trim().toLowerCase()
  if (["", "k", "keep", "y", "yes", "/quit", "/exit"].includes(word)) return "keep"
  if (["s", "stop"].includes(word)) return "stop"
  return ["n", "no", "stay"].includes(word) ? "stay" : undefined
}
