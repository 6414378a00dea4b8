import type { ScreenRuntime } from "../../program/open-program.ts"
import type { TaskHere } from "../../desk/departure.ts"
import { findUntaken, isEndless, willTake } from "../../desk/workers.ts"
import { countOf, plain, shortId, type Task, toLine } from "../format/format.ts"
import { AT_NEXT_START, formatPlace } from "../format/format-worker.ts"
import type { Screen } from "../screen/screen.ts"
import { unlessAway } from "./away-store.ts"
import { type StartedKeeper, startKeeper } from "./keeper.ts"
import type { GlobalOptions, OpenedRuntime } from "./open-runtime.ts"

type WorkLeft = Awaited<ReturnType<typeof keep>>

export interface LeavingOptions extends Pick<OpenedRuntime, "dataDirectory"> {
  readonly meanwhile: ScreenRuntime & Pick<OpenedRuntime["meanwhile"], "maxConcurrentTasks">
  readonly options: GlobalOptions
  /** True if processes on other machines may use the store too. */
  readonly isShared: boolean
  /** Queued tasks that this program would have taken. */
  readonly queued: readonly Task[]
  /** Tasks that other programs run already. */
  readonly elsewhere?: readonly TaskHere[]
  /** Sessions whose turns wait for the person at the prompt. The next chat asks again. */
  readonly asking?: ReadonlySet<Task["session"]>
  /** Tasks that only an answer in the inbox brings on. */
  readonly blocked?: Pick<ReadonlySet<Task["id"]>, "has"> | undefined
  readonly screen: Pick<Screen, "print">
  /** The command that starts the program for this store. */
  readonly words: string
  /** The conversation to come back to. Null: nothing was said in it yet. */
  readonly session: Task["session"]
  /** Ends the wait for the keeper's answer: nobody reads what is printed. */
  readonly hurry: AbortSignal
}

/** In a container, process 1 takes everything else along. */
export const isFirstProcess = (): boolean => process.pid === 1

/**
 * Closes the runtime and keeps its work: what others do not take, a keeper finishes. Says what goes on and how, and names
 * what could not be kept. False if the store is away. If this program dies in between, the next start takes the work over.
 */
export async function closeAndKeep(leaving: LeavingOptions): Promise<boolean> {
  const { meanwhile, options, isShared, queued, dataDirectory, hurry, asking, blocked } = leaving
  if (isFirstProcess()) return closeFirstProcess(leaving)
  const left = await unlessAway(keep(meanwhile), null)
  if (!left) return false
  const isAsking = (task: Task): boolean => task.kind === "turn" && asking?.has(task.session) === true
  const all = [...new Map([...queued, ...left.kept].map((task) => [task.id, task])).values()]
  const going = all.filter((task) => !isAsking(task) && blocked?.has(task.id) !== true)
  const untaken = findUntaken(going, left.others, isShared)
  const needsKeeper = untaken.length > 0 && meanwhile.maxConcurrentTasks > 0
  const keeper = needsKeeper ? await startKeeper(options, dataDirectory, hurry) : null
  tellKept(leaving, { going, untaken, keeper, others: left.others })
  const asks = all.filter(isAsking)
  tellAsking(leaving, asks.length, { keeper, takers: findTakers(left.others, asks) })
  tellStopped(leaving, left)
  return true
}

const keep = (meanwhile: ScreenRuntime) => meanwhile.close({ work: "keep" })

async function closeFirstProcess({ meanwhile, screen }: LeavingOptions): Promise<boolean> {
  screen.print("This program is process 1 here: its commands end with it. Agents and answers go on at the next start.")
  return unlessAway(
    meanwhile.close({ handsBack: true }).then(() => true),
    false,
  )
}

interface Kept {
  readonly going: readonly Task[]
  readonly untaken: readonly Task[]
  readonly keeper: StartedKeeper | null
  readonly others: WorkLeft["others"]
}

function tellKept(leaving: LeavingOptions, { going, untaken, keeper, others }: Kept): void {
  const { screen, words, session, elsewhere = [] } = leaving
  const isWaiting = ({ id, status, kind }: Task): boolean =>
    !keeper && status === "queued" && kind !== "turn" && untaken.some((one) => one.id === id)
  const moving = going.filter((task) => task.status !== "waiting" && !isWaiting(task))
  const tasks = moving.filter(({ kind }) => kind !== "turn")
  const turns = moving.filter(({ kind, parentTask }) => kind === "turn" && parentTask === null)
  const count = tasks.length + turns.length
  if (elsewhere.length > 0) {
    screen.print(
      `${countOf(elsewhere.length, "task")} ${elsewhere.length === 1 ? "goes" : "go"} on with other programs:`,
    )
    for (const { id, title = "" } of elsewhere) screen.print(`  [${shortId(id)}] ${toLine(title)}`.trimEnd())
  }
  if (count > 0) {
    const what = [
      ...(tasks.length > 0 ? [countOf(tasks.length, "task")] : []),
      ...(turns.length > 0 ? [turns.length === 1 ? "the answer" : `${turns.length} answers`] : []),
    ].join(" and ")
    screen.print(`${what} ${count === 1 ? "goes" : "go"} on without this program${describeHow(keeper, untaken, words)}`)
    for (const { id, title } of tasks) screen.print(`  [${shortId(id)}] ${toLine(title)}`)
    if (!keeper) screen.print(`No keeper was started: ${describeLack(moving, untaken, others)}`)
  }
  const all = count + elsewhere.length
  if (all > 0)
    screen.print(`To see ${all === 1 ? "it" : "them"}: ${words} tasks. To come back: ${toReturn(words, session)}`)
  const { length } = going.filter(isWaiting)
  if (length === 0) return
  const wait = `${countOf(length, "task")} ${length === 1 ? "waits" : "wait"} for a worker or a chat that runs tasks.`
  screen.print(`${wait} To start a worker: ${words} worker`)
}

interface Successors {
  readonly keeper: StartedKeeper | null
  readonly takers: WorkLeft["others"]
}

/** Another program takes such a turn: a chat asks at its prompt, all others in the inbox. */
function tellAsking({ screen, words, session }: LeavingOptions, count: number, { keeper, takers }: Successors): void {
  if (count === 0) return
  const what = count === 1 ? "The answer" : `${count} answers`
  if (!keeper && takers.length === 0) {
    screen.print(
      `${what} ${count === 1 ? "waits" : "wait"} for your decision. To be asked again: ${toReturn(words, session)}`,
    )
    return
  }
  const where = keeper ? "with the keeper" : `with another program (${takers.map(formatPlace).join("; ")})`
  const asked = count === 1 ? "What it asks you" : "What they ask you"
  const decision = keeper ? `${asked} waits` : `${asked} is asked there, or waits`
  screen.print(`${what} ${count === 1 ? "goes" : "go"} on ${where}. ${decision} in the inbox: ${words} tasks inbox`)
}

/** A chat in which nothing was said is not stored: a new one tells its results, too. */
function toReturn(words: string, session: LeavingOptions["session"]): string {
  return session === null ? words : `${words} --resume ${shortId(session)}`
}

function describeHow(keeper: StartedKeeper | null, untaken: readonly Task[], words: string): string {
  if (!keeper) return untaken.some(({ status }) => status === "queued") ? `, ${AT_NEXT_START}:` : ":"
  const { state, pid, log, problem } = keeper
  switch (state) {
    case "there":
      return pid === undefined ? ", with the keeper of this folder:" : `, with a keeper (pid ${pid}):`
    case "slow":
      return `, with a keeper (pid ${pid}) that has not answered yet, see ${log}:`
    case "failed":
      return `, ${AT_NEXT_START}: the keeper could not be started, ${plain(problem ?? "")}. By hand: ${words} worker --until-idle`
  }
}

/** Why no keeper was started for work that goes on. */
function describeLack(moving: readonly Task[], untaken: readonly Task[], others: WorkLeft["others"]): string {
  if (untaken.length > 0) return "this program runs no tasks (--concurrency 0)."
  const takers = findTakers(others, moving)
  if (takers.length === 0) return "nothing but commands without a time limit is left."
  const who = takers.length > 1 ? `one of ${takers.length} other programs` : "another program"
  return `${who} takes the work (${takers.map(formatPlace).join("; ")}).`
}

function findTakers(others: WorkLeft["others"], tasks: readonly Task[]): WorkLeft["others"] {
  return others.filter((worker) => tasks.some((task) => !isEndless(task) && willTake(worker, task)))
}

function tellStopped({ screen, words }: LeavingOptions, { stopped }: NonNullable<WorkLeft>): void {
  if (stopped.length === 0) return
  screen.print(`${countOf(stopped.length, "task")} could not be kept. To run one again: ${words} tasks retry ID`)
  for (const task of stopped)
    screen.print(`  [${shortId(task.id)}] ${toLine(task.title)}: ${plain(describeReason(task))}`)
}

function describeReason(task: Task): string {
  if ("stop" in task) return task.stop.reason
  return "failure" in task ? task.failure.message : task.status
}
