import { resolve } from "node:path"
import { isMeanwhileError } from "../../base/error.ts"
import type { Desk } from "../../desk/desk.ts"
import type { EndedTask } from "../../desk/ended.ts"
import type { DataFolder } from "../../program/data-folder.ts"
import type { ScreenRuntime } from "../../program/open-program.ts"
import { hasFailed } from "../../desk/prompt-work.ts"
import type { Standing } from "../../desk/tasks.ts"
import { toShownUrl } from "../../config/engine-url.ts"
import { closeUnlessAway, unlessAway } from "../start/away-store.ts"
import { openBegunHere } from "../start/begun-here.ts"
import { followSignals } from "../start/interrupts.ts"
import type { TaskContext } from "../command/command.ts"
import { DATA_DIRECTORY_NAME, findDataDirectory } from "../start/data-directory.ts"
import { EXIT_CODES } from "../start/exit-code.ts"
import { findEngine, tellAside } from "../start/find-engine.ts"
import { formatAnnouncement, formatDuration, shortId, type Task, type TaskId, toLine } from "../format/format.ts"
import { formatResult } from "../format/format-result.ts"
import { describeHandoff } from "../format/format-worker.ts"
import { type GlobalOptions, type OpenedRuntime, openRuntime } from "../start/open-runtime.ts"
import { openDesk } from "../start/person-desk.ts"
import type { Session } from "../start/start-session.ts"
import { toProgramWords } from "../start/program-words.ts"
import { formatAsked } from "../question/inbox.ts"
import { createLineScreen } from "../screen/create-screen.ts"
import type { Screen } from "../screen/screen.ts"
import { withWaitExit } from "../start/wait-exit.ts"

type Work = (context: TaskContext) => Promise<unknown>

const LIFE_EVERY_MS = 5_000
const LONG_MS = 24 * 60 * 60 * 1_000

/**
 * Reads the tasks of this folder, and stops those it is asked to; takes nothing from the queue. Without a data folder
 * there are no tasks, and no folder is made. In a data folder that is not trusted nothing goes on, not even a stop.
 */
export async function lookAtTasks(options: GlobalOptions, work: Work): Promise<void> {
  const { openRuntime } = await import("../../app.ts")
  const leaving = new AbortController()
  const { engine } = await findEngine(options)
  const dataDirectory = findDataDirectory(options.dataDir)
  if (!engine && dataDirectory === undefined) refuseNamed(options)
  const data = engine === undefined && dataDirectory !== undefined ? await lookInto(dataDirectory, options) : null
  const isTrusted = data === null || data.refusal === null
  const { runtime: meanwhile } = await withWaitExit(tellAside, (tell) => {
    const opening = {
      takesWork: isTrusted ? ("own" as const) : false,
      ...(dataDirectory !== undefined && { dataDirectory }),
      ...(engine && { engine, storeWait: { tell, leaving: leaving.signal } }),
    }
    return openRuntime(opening, data?.onStoreOpened)
  })
  const folder = dataDirectory ?? resolve(options.dataDir ?? DATA_DIRECTORY_NAME)
  const begun = engine === undefined ? null : openBegunHere(folder, toShownUrl(engine))
  await withRuntime(options, { meanwhile, leave: () => leaving.abort(), begun, waitMs: 0 }, work)
}

async function lookInto(dataDirectory: string, options: GlobalOptions): Promise<DataFolder> {
  const { openDataFolder } = await import("../../program/data-folder.ts")
  const trust = options.trust === true
  const folder = await openDataFolder({ dataDirectory, environment: process.env, trust, notify: tellAside })
  if (folder.refusal !== null) tellAside(folder.refusal)
  return folder
}

/** Refuses a named data folder that does not exist, so that a mistyped name makes none. */
function refuseNamed({ dataDir }: GlobalOptions): void {
  if (dataDir === undefined) return
  throw new Error(`Nothing was kept in ${resolve(dataDir)}: there is no such folder. Name another: --data-dir FOLDER`)
}

/** For a task that must run: only that task runs here, unless another process takes it. Waits for its end. */
export async function workOnTasks(options: GlobalOptions, work: Work): Promise<void> {
  const notes = createLineScreen(process.stderr, process.env)
  if (!findDataDirectory(options.dataDir) && !(await findEngine(options)).engine) refuseNamed(options)
  const opened = await openRuntime({
    ...options,
    waitsForServers: true,
    takesWork: "own",
    endsAtSignal: true,
    notify: (text) => notes.print(text),
  })
  await withRuntime(options, { ...opened, waitMs: LONG_MS }, work)
}

interface Opened extends Pick<OpenedRuntime, "leave" | "begun"> {
  readonly meanwhile: ScreenRuntime
  /** The longest wait for the end of a task that the command was about. */
  readonly waitMs: number
}

async function withRuntime(options: GlobalOptions, opened: Opened, work: Work): Promise<void> {
  const { meanwhile, leave, begun, waitMs } = opened
  const screen = createLineScreen(process.stdout, process.env)
  const words = toProgramWords(options)
  // The work that was begun with the data folder, in all its conversations.
  const own = begun && { ...begun, conversations: begun.conversations.list() }
  const stop = new AbortController()
  followSignals().onEach(() => {
    stop.abort()
    leave()
  })
  const { signal } = stop
  const touched = new Set<TaskId>()
  const ends: EndedTask[] = []
  const desk = openDesk(meanwhile)
  try {
    const prefix = `${words} tasks `
    await work({ meanwhile, desk, screen, signal, prefix, words, own, announceEnd: (id) => void touched.add(id) })
    for (const id of touched) {
      using _ = waitMs > 0 ? showLife(id) : null
      const standing = await desk.tasks.settle(id, { waitMs, signal })
      const { task } = standing.view
      screen.print(await describeStanding(desk, standing, words, screen))
      if ("endedAt" in task) ends.push(task)
      // A person who speaks to an agent, or retries it, wants to read what it says.
      const answer = task.kind === "agent" && waitMs > 0 ? formatResult(task) : ""
      if (answer !== "") screen.print(answer)
      const agent = await findQueuedAgent(desk, task)
      if (agent) screen.print(await describeAgent(desk, agent, words))
      if (hasFailed(task)) process.exitCode = EXIT_CODES.failed
      else if (task.status === "waiting") process.exitCode ??= EXIT_CODES.needs_person
    }
    await unlessAway(acknowledge(desk, ends, own), undefined)
  } catch (error) {
    if (!signal.aborted || !isMeanwhileError(error, "store_unavailable")) throw error
    tellAside("meanwhile: stopped while the store is away")
  } finally {
    screen.detach()
    if (signal.aborted) process.exitCode ??= EXIT_CODES.stopped
    // Other tasks that began here may come to their ends, too.
    await closeUnlessAway(meanwhile, { drainMs: signal.aborted ? 0 : waitMs, signal })
  }
}

/** Ends that were printed: the next chat does not announce them again. In a store that others share, only this person's. */
async function acknowledge({ ended }: Desk, ends: readonly EndedTask[], own: TaskContext["own"]): Promise<void> {
  const isHere = (session: Session["id"]): boolean => own?.conversations.includes(session) ?? true
  const areTold = await Promise.all(ends.map((end) => ended.isTold(end, isHere)))
  await ended.shown(ends.filter((_, index) => areTold[index]))
}

/** Shows now and then that the program waits and does not hang. */
function showLife(id: TaskId): Disposable {
  const beganMs = performance.now()
  return setInterval(() => {
    const waited = formatDuration(performance.now() - beganMs)
    const leaving = "Ctrl+C stops waiting, and stops the task if this program runs it."
    process.stderr.write(`Waiting for [${shortId(id)}] for ${waited}. ${leaving}\n`)
  }, LIFE_EVERY_MS)
}

/** The agent that waited for this task, once the task has ended. This program does not run the agent. */
async function findQueuedAgent({ tasks }: Desk, task: Task): Promise<Task | null> {
  if (!("endedAt" in task)) return null
  let above = await findParent(tasks, task)
  while (above && above.kind !== "agent") above = await findParent(tasks, above)
  return above?.status === "queued" ? above : null
}

async function describeAgent(desk: Desk, agent: Task, words: string): Promise<string> {
  const isHeldUp = (await desk.blocked.byQuestion()).has(agent.id)
  const fate = isHeldUp ? `needs another answer: ${words} tasks inbox` : `goes on ${await describeHandoff(desk, agent)}`
  return `its agent ${shortId(agent.id)} ${fate}`
}

/** Null also if the parent was removed: a task that it started may stay longer. */
async function findParent(tasks: Pick<Desk["tasks"], "find">, { parentTask }: Task): Promise<Task | null> {
  if (parentTask === null) return null
  try {
    return (await tasks.find(parentTask)).task
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return null
    throw error
  }
}

async function describeStanding(
  desk: Desk,
  { view, question }: Standing,
  words: string,
  screen: Screen,
): Promise<string> {
  const { task, missing, worker } = view
  const id = shortId(task.id)
  if ("endedAt" in task) return formatAnnouncement(task, await desk.tasks.firstStart(task))
  if (question) return formatAsked(desk, question, `${words} tasks answer`, screen)
  if (missing?.needs === "folder") {
    return `[${id}] is queued: ${toLine(missing.text)}. A chat or a worker that is started there runs it`
  }
  // The end of this program stops the commands that it runs.
  if (worker?.where === "process" && task.kind === "tool" && task.lifetime !== "forever") {
    return `[${id}] ran here and is cancelled. To run it again: ${words} tasks retry ${id}`
  }
  return `[${id}] is ${task.status}; its worker, or the next chat or worker, brings it to its end`
}
