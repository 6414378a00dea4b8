import type { Runtime } from "../../app.ts"
import type { Program } from "../../program/open-program.ts"
import { toErrorMessage } from "../../base/error.ts"
import { isForsaken, unlessAway } from "../away-store.ts"
import { isQuestionTask } from "../../desk/question.ts"
import { formatAnnouncement, plain, shortId, type Task, type TaskId } from "../format.ts"
import { formatResultHead } from "../format-result.ts"
import { describeAsked, formatQuestion } from "../inbox.ts"
import { openDesk } from "../person-desk.ts"
import type { Screen } from "../screen/screen.ts"
import type { SessionId } from "./last-announcement.ts"
import { findLive, tellLive, tellMissed } from "./left-tasks.ts"
import { followNewTasks } from "./new-tasks.ts"
import { createQueuedTasks } from "./queued-tasks.ts"
import { createToldHere, type ToldHereOptions } from "./told-here.ts"

const LONG_MS = 24 * 60 * 60 * 1_000
const NONE: Pick<ReadonlySet<TaskId>, "has"> = new Set()

/** Says when tasks end, when one needs an answer, and when a worker takes one that had to wait. */
export interface Announcer {
  /** Of a task that this program has started or stopped. */
  announceEnd(taskId: TaskId): void
  /** The same, and a person was told so: also of one that goes on without this program. */
  promiseEnd(taskId: TaskId): void
  /** Announces what ended while nobody watched, and from now on the end of what goes on. */
  announceLeft(conversation: SessionId): Promise<void>
  /** The same, when another conversation is opened in the chat. */
  announceOpened(conversation: SessionId): Promise<void>
  /**
   * Resolves when every task of this program has ended or needs a person, or the signal aborts: whether there was one to
   * wait for. What another copy runs is its own.
   */
  allEnded(signal: AbortSignal): Promise<boolean>
  /** The tasks of this program that have not ended and need nobody for it, as far as the store can be asked. */
  going(): Promise<readonly TaskId[]>
  /** As a task was when it was first looked at here: for when the store cannot be asked. Undefined: it is not followed. */
  seen(taskId: TaskId): Task | undefined
  /** Whether the questions of all of them were shown. */
  hasAsked(taskIds: readonly TaskId[]): boolean
  /** What these came to: their ends are announced, and nobody reports of them. */
  showResults(taskIds: readonly TaskId[]): void
  close(): void
}

export interface AnnouncerOptions extends ToldHereOptions {
  readonly meanwhile: Runtime & Pick<Program, "maxConcurrentTasks">
  readonly screen: Screen
  /** Whether agents tell by themselves what their tasks came to. */
  readonly areReportsOn: boolean
  /** Aborted when the store is away, and not waited for any more. */
  readonly gone: AbortSignal
  /** An agent in the background has asked something, or needs no answer any more. */
  readonly onQuestion: (agent: NonNullable<Task["session"]>, question: TaskId, isOpen: boolean) => void
}

export function createAnnouncer(options: AnnouncerOptions): Announcer {
  const { meanwhile, screen, last } = options
  const desk = openDesk(meanwhile)
  const watched = new Map<TaskId, { readonly told: Promise<void>; readonly ended: Promise<void> }>()
  const seen = new Map<TaskId, Task>()
  const startedHere = new Set<TaskId>()
  /** Only a person can bring these on: nobody waits for them. */
  const asking = new Set<TaskId>()
  /** By task, the run whose end was announced. */
  const announced = new Map<TaskId, number>()
  const queued = createQueuedTasks(meanwhile, screen)
  const closing = new AbortController()
  const own = (): [TaskId, Promise<void>][] =>
    [...watched].flatMap(([id, { ended }]) => (isOwn(id) && !asking.has(id) ? [[id, ended]] : []))

  const isOwn = (id: TaskId): boolean => startedHere.has(id) || meanwhile.tasks.runsHere(id)

  const isToldHere = createToldHere(options)

  const concerns = async (task: Pick<Task, "id" | "session">): Promise<boolean> =>
    isOwn(task.id) || (await isToldHere(task))

  async function watch(taskId: TaskId): Promise<void> {
    while (!closing.signal.aborted) {
      const { task } = await meanwhile.tasks.result(taskId, { waitMs: LONG_MS, signal: closing.signal })
      if (closing.signal.aborted) return
      if (!("endedAt" in task)) continue
      if (announced.get(taskId) === task.run) return
      announced.set(taskId, task.run)
      if (isQuestionTask(task)) return task.session ? options.onQuestion(task.session, taskId, false) : undefined
      await tellEnd(options, task)
      if (await isToldHere(task)) last.remember(task)
      return
    }
  }

  async function tellQuestion(taskId: TaskId): Promise<void> {
    const { task } = await meanwhile.tasks.get(taskId)
    if (watched.has(taskId)) seen.set(taskId, task)
    queued.follow(task)
    const item = await desk.inbox.of(taskId)
    if (item) {
      asking.add(taskId)
      if (task.session && isQuestionTask(task)) options.onQuestion(task.session, taskId, true)
      screen.print(screen.style.yellow(formatQuestion(item, "/answer", await describeAsked(desk, item))))
    }
  }

  function announce(taskId: TaskId): void {
    if (watched.has(taskId)) return
    const told = tellQuestion(taskId).catch(() => {})
    const ended = watch(taskId)
      .catch((error: unknown) => {
        if (closing.signal.aborted || isForsaken(error, options.gone)) return
        screen.print(`[${shortId(taskId)}] ${plain(toErrorMessage(error))}`)
      })
      .finally(() => {
        watched.delete(taskId)
        seen.delete(taskId)
      })
    watched.set(taskId, { told, ended })
  }

  function announceEnd(taskId: TaskId): void {
    startedHere.add(taskId)
    asking.delete(taskId)
    announce(taskId)
  }

  const unfollow = followNewTasks(meanwhile, concerns, (task) => {
    if (!watched.has(task.id) && announced.get(task.id) !== task.run) announceEnd(task.id)
  })

  return {
    announceEnd,
    promiseEnd(taskId) {
      last.promise(taskId)
      announceEnd(taskId)
    },
    async announceLeft(conversation) {
      await tellMissed({ meanwhile, screen, last, concerns, conversation })
      for (const id of await tellLive({ meanwhile, screen, concerns, conversation })) announce(id)
    },
    async announceOpened(conversation) {
      await tellMissed({ meanwhile, screen, last, concerns, conversation })
      for (const { id } of await findLive(meanwhile, conversation)) announce(id)
    },
    async allEnded(signal) {
      await Promise.all([...watched.values()].map(({ told }) => told))
      for (let hasWaited = false; ; hasWaited = true) {
        const blocked = await desk.blocked.byQuestion()
        const going = own().flatMap(([id, ended]) => (blocked.has(id) ? [] : [ended]))
        if (going.length === 0 || signal.aborted) return hasWaited
        await endOrLook(going, signal)
      }
    },
    async going() {
      const blocked = await unlessAway(desk.blocked.byQuestion(), NONE)
      return own().flatMap(([id]) => (blocked.has(id) ? [] : id))
    },
    seen: (taskId) => seen.get(taskId),
    showResults: (taskIds) => taskIds.forEach((id) => void showResult(meanwhile, screen, id)),
    hasAsked: (taskIds) => taskIds.every((id) => asking.has(id)),
    close() {
      unfollow()
      queued.close()
      closing.abort()
    },
  }
}

async function tellEnd(options: AnnouncerOptions, task: Task): Promise<void> {
  const { meanwhile, screen } = options
  const head = (await isReported(options, task)) ? "" : formatResultHead(task)
  const end = formatAnnouncement(task, await openDesk(meanwhile).tasks.firstStart(task))
  screen.print(`${end}${head === "" ? "" : `\n${screen.style.dim(head)}`}`)
}

/** What it came to is told with the report then. */
async function isReported({ meanwhile, areReportsOn, isHere }: AnnouncerOptions, task: Task): Promise<boolean> {
  return (
    areReportsOn && task.session !== null && isHere(task.session) && (await openDesk(meanwhile).tasks.isReported(task))
  )
}

async function showResult({ tasks }: Runtime, screen: Screen, id: TaskId): Promise<void> {
  const view = await tasks.get(id).catch(() => undefined)
  const head = view ? formatResultHead(view.task) : ""
  if (head !== "") screen.print(`[${shortId(id)}] came to:\n${screen.style.dim(head)}`)
}

const LOOK_EVERY_MS = 1_000

/** Until all have ended, or it is time to see whether one of them needs a person by now. */
async function endOrLook(ended: readonly Promise<void>[], signal: AbortSignal): Promise<void> {
  const look = Promise.withResolvers<void>()
  const stop = (): void => look.resolve()
  const timer = setTimeout(stop, LOOK_EVERY_MS)
  signal.addEventListener("abort", stop, { once: true })
  await Promise.race([Promise.all(ended), look.promise])
  signal.removeEventListener("abort", stop)
  clearTimeout(timer)
}
