import type { Runtime } from "../../app.ts"
import { toErrorMessage } from "../../base/error.ts"
import { createInterrupts, followSignals } from "../chat/interrupts.ts"
import { createYesChannel } from "../chat/yes-channel.ts"
import type { ExitName } from "../exit-code.ts"
import { formatDuration, plain, shortId, type TaskId } from "../format.ts"
import { type GlobalOptions, openRuntime } from "../open-runtime.ts"
import { createLineScreen } from "../screen/create-screen.ts"
import type { Screen } from "../screen/screen.ts"
import { startSession } from "../start-session.ts"
import type { AgentEvent, TurnAccounting } from "../view/agent-event.ts"
import { createAgentView } from "../view/agent-view.ts"
import { leaveTasks, waitForTasks } from "./left-tasks.ts"
import { toJsonLine } from "./json-line.ts"

export interface RunPromptOptions extends GlobalOptions {
  readonly prompt: string
  readonly session?: string
  readonly isJson: boolean
  readonly isApproving: boolean
  readonly waitsForTasks: boolean
  /** Null: as long as it takes. */
  readonly timeoutMs: number | null
}

const NEEDS_PERSON = "A person is needed: meanwhile tasks inbox"

type Session = Awaited<ReturnType<Runtime["createSession"]>>

interface Outcome {
  readonly outcome: Exclude<ExitName, "refused">
  readonly text: string
  readonly error: string | null
  readonly accounting: TurnAccounting | null
}

/** Says one thing in a session, shows what comes of it, and waits for what goes on in the background. */
export async function runPrompt(options: RunPromptOptions): Promise<ExitName> {
  const answers = createLineScreen(process.stdout, process.env)
  const notes = createLineScreen(process.stderr, process.env)
  const { meanwhile } = await openRuntime({ ...options, waitsForServers: true, notify: (text) => notes.print(text) })
  const stop = createStop(options.timeoutMs)
  try {
    if (options.isApproving) meanwhile.attach(createYesChannel(notes))
    const started = new Set<TaskId>()
    let own: Session["id"] | null = null
    const isOwn = (agent: Session["id"]): boolean => agent === own
    const unlisten = meanwhile.on(toListener(options, { answers, notes, isOwn, started }))
    const session = await startSession(meanwhile, toWish(options))
    own = session.id
    const said = await say(session, options.prompt, stop.signal)
    const outcome = await settleTasks(options, { meanwhile, notes, session, started, said, signal: stop.signal })
    unlisten()
    notes.detach()
    answers.detach()
    if (outcome.error !== null) notes.print(`meanwhile: ${plain(outcome.error)}`)
    notes.print(`session ${shortId(session.id)}, to go on: meanwhile run --session ${shortId(session.id)} "…"`)
    if (options.isJson) answers.print(toJsonLine(toResult(session, outcome)))
    return outcome.outcome
  } finally {
    stop.forget()
    await meanwhile.close({ signal: stop.hurry })
  }
}

/** In lists its name tells it from a chat. */
function toWish({ session, model }: RunPromptOptions) {
  return { name: "run", ...(session !== undefined && { resume: session }), ...(model !== undefined && { model }) }
}

/** The first signal, or the end of the time, stops; another one does not wait for anything. */
function createStop(timeoutMs: number | null) {
  const stop = new AbortController()
  const hurry = new AbortController()
  const interrupts = createInterrupts()
  followSignals(interrupts)
  interrupts.onEach(() => {
    if (stop.signal.aborted) hurry.abort()
    stop.abort(new Error("stopped by a signal"))
  })
  const late = new Error(`stopped: it took longer than ${formatDuration(timeoutMs ?? 0)}`)
  const timer = timeoutMs === null ? undefined : setTimeout(() => stop.abort(late), timeoutMs)
  return { signal: stop.signal, hurry: hurry.signal, forget: () => clearTimeout(timer) }
}

interface Listening {
  readonly answers: Screen
  readonly notes: Screen
  readonly isOwn: (agent: Session["id"]) => boolean
  readonly started: Set<TaskId>
}

function toListener({ isJson }: RunPromptOptions, { answers, notes, isOwn, started }: Listening) {
  const view = createAgentView({
    answers,
    notes,
    isMain: isOwn,
    isAwaited: isOwn,
    onTask: () => {},
  })
  return (event: AgentEvent): void => {
    if (event.type === "tool_call.ended" && event.taskId) started.add(event.taskId)
    if (isJson) answers.print(toJsonLine(event))
    else view.show(event)
  }
}

async function say(session: Session, prompt: string, signal: AbortSignal): Promise<Outcome> {
  try {
    const { outcome, text, accounting } = await session.send(prompt, { signal })
    const error = outcome === "stopped" ? toErrorMessage(signal.reason ?? "the turn was stopped") : null
    return { outcome, text, error, accounting }
  } catch (error) {
    const outcome = signal.aborted ? "stopped" : "failed"
    return { outcome, text: "", error: toErrorMessage(error), accounting: session.turns().at(-1) ?? null }
  }
}

interface Settling extends Pick<Listening, "notes" | "started"> {
  readonly meanwhile: Runtime
  readonly session: Session
  readonly said: Outcome
  readonly signal: AbortSignal
}

async function settleTasks({ waitsForTasks }: RunPromptOptions, settling: Settling): Promise<Outcome> {
  const { meanwhile, notes, session, started, said, signal } = settling
  const scope = { meanwhile, screen: notes, session: session.id, started }
  if (!waitsForTasks) await leaveTasks(scope)
  const left = waitsForTasks ? await waitForTasks(scope, signal) : "none"
  if (said.outcome !== "completed" || left === "none") return said
  if (left === "questions") return { ...said, outcome: "needs_person", error: NEEDS_PERSON }
  return { ...said, outcome: "stopped", error: toErrorMessage(signal.reason) }
}

function toResult(session: Session, { outcome, text, error, accounting }: Outcome) {
  return {
    type: "result",
    outcome,
    text,
    ...(error !== null && { error }),
    usage: accounting?.usage ?? null,
    costMicros: accounting?.costMicros ?? null,
    session: session.id,
    turn: accounting?.turn ?? null,
  }
}
