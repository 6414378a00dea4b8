import { unlessAborted } from "../../base/unless-aborted.ts"
import type { Desk } from "../../desk/desk.ts"
import type { LeftWork } from "../../desk/prompt-work.ts"
import { closeUnlessAway, unlessAway } from "../start/away-store.ts"
import { createApproveAll } from "../question/approve-all.ts"
import { describeRefusal } from "../start/describe-refusal.ts"
import { EXIT_CODES, type ExitName } from "../start/exit-code.ts"
import { plain, shortId, type Task, type TaskId } from "../format/format.ts"
import { type GlobalOptions, type OpenedRuntime, openRuntime } from "../start/open-runtime.ts"
import { openDesk } from "../start/person-desk.ts"
import { closeAndKeep } from "../start/leave-work.ts"
import { toProgramWords } from "../start/program-words.ts"
import { createLineScreen } from "../screen/create-screen.ts"
import type { Screen } from "../screen/screen.ts"
import { type Session, startSession } from "../start/start-session.ts"
import type { AgentEvent, EventOf } from "../format/agent-event.ts"
import { createHeldEvents, type HeldEventsOptions } from "../chat/held-events.ts"
import { createAgentView } from "../view/agent-view.ts"
import { toJsonLine } from "./json-line.ts"
import { describeStop, toOutcome, toResult, toUnsaidResult } from "./run-outcome.ts"
import { sayPrompt } from "./say-prompt.ts"
import { leaveTasks, settleTasks } from "./settle-tasks.ts"
import { createStop, type Stop } from "./stop.ts"
import { createToldEnds } from "./told-ends.ts"

export interface RunPromptOptions extends GlobalOptions {
  readonly prompt: string
  readonly session?: string
  readonly isJson: boolean
  readonly isApproving: boolean
  readonly waitsForTasks: boolean
  /** Null: no limit. */
  readonly timeoutMs: number | null
}

const LEFT = "stopped while the store is away; what was not written yet is found by the next start"

/**
 * Says one prompt in a session, shows what happens, and waits for tasks in the background and their reports.
 */
export async function runPrompt(options: RunPromptOptions): Promise<ExitName> {
  const answers = createLineScreen(process.stdout, process.env)
  const tellUnsaid = (outcome: "refused" | "stopped", error: string): void => {
    if (options.isJson) answers.print(toJsonLine(toUnsaidResult({ outcome, error })))
  }
  try {
    return await openAndSay(options, answers, tellUnsaid)
  } catch (error) {
    tellUnsaid("refused", describeRefusal(error))
    throw error
  }
}

async function openAndSay(
  options: RunPromptOptions,
  answers: Screen,
  tellUnsaid: (outcome: "stopped", error: string) => void,
): Promise<ExitName> {
  const notes = createLineScreen(process.stderr, process.env)
  const stop = createStop()
  const goUnsaid = (): void => {
    const error = `${describeStop(stop.signal)}; nothing was said yet`
    notes.print(`meanwhile: ${plain(error)}`)
    tellUnsaid("stopped", error)
    process.exit(EXIT_CODES.stopped)
  }
  stop.signal.addEventListener("abort", goUnsaid)
  const opened = await openRuntime({
    ...options,
    waitsForServers: true,
    takesWork: "own",
    notify: (text) => notes.print(text),
  })
  const { meanwhile, leave, gone, begun } = opened
  stop.signal.removeEventListener("abort", goUnsaid)
  stop.signal.addEventListener("abort", leave)
  if (options.timeoutMs !== null) stop.limit(options.timeoutMs)
  let isLeft = false
  const leftBehind: LeftBehind = { queued: [], session: null }
  try {
    return await unlessAborted(gone, converse(options, { meanwhile, begun, answers, notes, stop, leftBehind }))
  } catch (error) {
    if (!gone.aborted) throw error
    isLeft = true
    return "stopped"
  } finally {
    stop.forget()
    await closeAsAsked(options, opened, { stop, notes, leftBehind })
    // Printed last, after lines about work that is stopped meanwhile.
    if (isLeft) {
      notes.print(`meanwhile: ${LEFT}`)
      tellUnsaid("stopped", LEFT)
    }
  }
}

/** A stop by a person, a program or the time limit stops the work too; every other end keeps what was left. */
async function closeAsAsked(
  options: RunPromptOptions,
  { meanwhile, dataDirectory }: OpenedRuntime,
  { stop, notes, leftBehind }: Pick<Conversing, "stop" | "notes" | "leftBehind">,
): Promise<void> {
  if (stop.signal.aborted && !stop.isHangup()) {
    await closeUnlessAway(meanwhile, { signal: stop.hurry })
    return
  }
  const { isShared, blocked: questions } = openDesk(meanwhile)
  const blocked = await unlessAway(questions.byQuestion(), undefined)
  const hurry = AbortSignal.any([stop.signal, stop.hurry])
  const words = toProgramWords(options)
  await closeAndKeep({
    meanwhile,
    options,
    isShared,
    ...leftBehind,
    blocked,
    dataDirectory,
    screen: notes,
    words,
    hurry,
  })
}

interface Conversing extends Pick<OpenedRuntime, "meanwhile" | "begun"> {
  readonly answers: Screen
  readonly notes: Screen
  readonly stop: Stop
  readonly leftBehind: LeftBehind
}

/** Filled while the program works: what it leaves behind when it ends. */
interface LeftBehind {
  /** The tasks of the prompt that nobody has begun. */
  queued: readonly Task[]
  session: Session["id"] | null
}

async function converse(options: RunPromptOptions, scope: Conversing): Promise<ExitName> {
  const { meanwhile, begun, answers, notes, stop } = scope
  const desk = openDesk(meanwhile)
  const saidAt = desk.now()
  if (options.isApproving) meanwhile.attach(createApproveAll(notes))
  let own: Session["id"] | null = null
  const record = createRecord(options, scope, (agent) => agent === own)
  let tellEnds: HeldEventsOptions["tellEnds"] = () => undefined
  const held = createHeldEvents({ show: record.show, tellEnds: (tasks) => tellEnds(tasks), early: [] })
  held.release()
  const unlisten = desk.on((event) => {
    record.hear(event)
    held.take(event)
  })
  const session = await startSession(meanwhile, { ...toWish(options), begun })
  own = session.id
  const prompt = { session: session.id, saidAt, started: record.started }
  const ends = createToldEnds({ desk, prompt, screen: notes, areReportsOn: meanwhile.areReportsOn })
  tellEnds = ends.tellBefore
  // Without reports, results that this run does not wait for come with the next message of the conversation.
  if (!options.waitsForTasks) session.disableReports()
  const words = toProgramWords(options)
  const { signal } = stop
  const saying = { desk, session, answers: options.isJson ? null : answers, notes, words, signal }
  const said = await sayPrompt(saying, options.prompt)
  const leaving = { desk, prompt, words, screen: notes }
  const settling = { ...leaving, session, ends }
  const waitsForTasks = options.waitsForTasks && said.outcome !== "waiting"
  const left = waitsForTasks ? await settleTasks(settling, signal) : await findQuestions(desk, session.id)
  if (!waitsForTasks || left === "running") await leaveTasks(leaving, { keeps: !signal.aborted || stop.isHangup() })
  const tasks = await desk.promptWork.tasks(prompt)
  const isKept = await desk.sessions.isKept(session.id)
  scope.leftBehind.queued = tasks.filter(({ status }) => status === "queued")
  scope.leftBehind.session = isKept ? session.id : null
  await held.allShown()
  await unlessAway(ends.acknowledge(), undefined)
  unlisten()
  notes.detach()
  answers.detach()
  const { reports } = record
  const run = { session: session.id, isKept, said, left, tasks, signal, words, reports, failedReports: record.unmade() }
  const { outcome, error } = toOutcome(run)
  if (error !== null) notes.print(`meanwhile: ${plain(error)}`)
  if (isKept) notes.print(`session ${shortId(session.id)}, to go on: ${words} run --session ${shortId(session.id)} "…"`)
  if (options.isJson) answers.print(toJsonLine(toResult(run)))
  return outcome
}

/** Names the tasks that need a person now. Tasks that nobody waits for may ask later. */
async function findQuestions({ inbox }: Pick<Desk, "inbox">, session: Session["id"]): Promise<LeftWork> {
  return (await inbox.inSession(session)).length > 0 ? "questions" : "none"
}

/** A new session is named `run`, which tells it from a chat in lists. */
function toWish({ session, model }: RunPromptOptions) {
  return { name: "run", ...(session !== undefined && { resume: session }), ...(model !== undefined && { model }) }
}

/** Shows events, and records which tasks the prompt has started and what its agent has reported. */
function createRecord(
  { isJson }: RunPromptOptions,
  { meanwhile, answers, notes }: Conversing,
  isOwn: (agent: AgentEvent["agent"]) => boolean,
) {
  const started = new Set<TaskId>()
  const reports: EventOf<"report.published">["report"][] = []
  let begun = 0
  /** How many reports have begun and are not published: under way, or failed. */
  const unmade = (): number => Math.max(0, begun - reports.length)
  const view = createAgentView({
    activity: openDesk(meanwhile).activity(),
    answers,
    notes,
    isMain: isOwn,
    isAwaited: (agent) => isOwn(agent) && unmade() === 0,
    onTask: () => {},
  })
  return {
    started,
    reports,
    unmade,
    /** At once: those who wait for the tasks ask for it. */
    hear(event: AgentEvent): void {
      if (event.type === "tool_call.ended" && event.taskId) started.add(event.taskId)
      if (event.type === "tool_call.ended") for (const id of event.started ?? []) started.add(id)
    },
    show(event: AgentEvent): void {
      if (isOwn(event.agent) && event.type === "report.started") begun += 1
      if (isOwn(event.agent) && event.type === "report.published") reports.push(event.report)
      if (!isJson && event.type === "report.started" && isOwn(event.agent)) answers.print("")
      if (isJson) answers.print(toJsonLine(event))
      else view.show(event)
    },
  }
}
