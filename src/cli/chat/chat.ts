import type { Activity } from "../../desk/activity.ts"
import type { Desk } from "../../desk/desk.ts"
import { closeUnlessAway, tellLost } from "../start/away-store.ts"
import { moveToBackground, type MovingParts } from "../command/background-command.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { plain } from "../format/format.ts"
import type { GlobalOptions, OpenedRuntime } from "../start/open-runtime.ts"
import { type SessionWish, startSession } from "../start/start-session.ts"
import type { AgentEvent } from "../format/agent-event.ts"
import { createAgentView } from "../view/agent-view.ts"
import { type Announcer, createAnnouncer } from "./announcer.ts"
import { createAwayHint, hintAtCommandStop } from "./away-hint.ts"
import { type ChatPrompt, openPrompt, type PromptStreams } from "./chat-prompt.ts"
import { type ControlCParts, createControlC } from "./control-c.ts"
import { type Conversation, createConversation } from "./conversation.ts"
import { shutDown, createLeaving, type Fate } from "./ending.ts"
import { createExitQuestion, findLiveHere } from "./exit-question.ts"
import { createForeground } from "../command/foreground.ts"
import { createHeldEvents } from "./held-events.ts"
import { greet, tellQuestions, warnOfHidden, warnOfYes } from "./greeting.ts"
import type { Interrupts } from "../start/interrupts.ts"
import type { LatePerson } from "./late-person.ts"
import { createLeftTurns, type LeftTurns } from "./left-turns.ts"
import { isCommand, isMissed, isQuit, type LineContext, runLine } from "./run-line.ts"
import { createQuestionPrompt, type QuestionPrompt } from "./question-prompt.ts"
import { createApproveAll } from "../question/approve-all.ts"

export interface ChatOptions extends PromptStreams, Omit<OpenedRuntime, "begun"> {
  /** The options of the start, for a keeper. */
  readonly options: GlobalOptions
  readonly onExit: "ask" | Fate
  /** The conversation to begin with. */
  readonly wish: SessionWish
  readonly desk: Desk
  /** The person who is asked; null: nobody. */
  readonly person: LatePerson | null
  /** The start of the program, in the store's time. */
  readonly startedAt: number
  readonly interrupts: Interrupts
  /** The command that starts the program for this store. */
  readonly words: string
}

/** Talks until `/quit`, the end of input, or Ctrl+C; then shuts down. */
export async function runChat(options: ChatOptions): Promise<void> {
  const { meanwhile, screen, interrupts } = options
  const chat = createChat(options)
  const { prompt, leaving, announcer, leftTurns, view } = chat
  const held = createHeldEvents({
    show: view.show,
    tellEnds: announcer.news.tellEnds,
    early: options.takeEarlyEvents(),
  })
  const unlisten = meanwhile.on(held.take)
  const detach = options.person ? meanwhile.attach(options.person) : () => {}
  prompt.onInterrupt(chat.controlC.press)
  const ignore = interrupts.onEach((interrupt) => (interrupt === "key" ? chat.controlC.press() : chat.leaveNow()))
  const unfollow = prompt.onKeys({ next: view.selection.next, background: chat.background })
  try {
    const ready = chat.start()
    ready.then(held.release).then(
      () => chat.seatPerson(),
      () => {},
    )
    prompt.onEnd(() => chat.exit.leave("quit"))
    prompt
      .follow(chat.handle)
      .then(() => leaving.end(prompt.isTerminal ? "interrupt" : "end of input", chat.fate), leaving.fail)
    const [conversation] = await Promise.all([ready, leaving.wanted])
    ignore()
    unfollow()
    // Elsewhere an answer that goes on would be broken in the middle of its line.
    if (screen.isLive) screen.detach()
    const asking = chat.asking()
    prompt.close()
    chat.questions.close()
    detach()
    view.close()
    // Calls that are handed back would look like failures.
    if (leaving.reason() !== "end of input") unlisten()
    const { givenBack, behindQuit } = chat
    const { allShown } = held
    const own = { asking, named: chat.exit.named(), givenBack, behindQuit, allShown }
    const parts = { ...options, announcer, conversation, leftTurns, ...own }
    await shutDown(parts, leaving.reason(), leaving.fate())
  } catch (error) {
    if (!isMeanwhileError(error, "store_unavailable")) throw error
    tellLost(chat.early().filter(isMissed), screen)
    if (!options.gone.aborted) throw error
    screen.print(chat.isReady() ? "The store is away." : "The store is away, and this chat had not begun.")
  } finally {
    unlisten()
    screen.detach()
    prompt.close()
    announcer.news.close()
    leftTurns.close()
    await closeUnlessAway(meanwhile)
  }
}

/** Puts the parts of a chat together, without beginning it. */
function createChat(options: ChatOptions) {
  const { meanwhile, desk, screen } = options
  const prompt = openPrompt(options)
  const ready = Promise.withResolvers<Conversation>()
  const foreground = createForeground()
  const early = new Set<string>()
  const givenBack: string[] = []
  const announcer = createAnnouncer({
    desk,
    screen,
    isHere: (session) => isHere(session),
    areReportsOn: meanwhile.areReportsOn,
    gone: options.gone,
    onQuestion: (agent, question, isOpen) => view.markAsking(agent, question, isOpen),
  })
  const leftTurns = createLeftTurns(desk, screen)
  // The question about leaving is before every other one.
  const onQuestion = (isOpen: boolean) => out.exit.isOpen() || prompt.expectAnswer(isOpen)
  const questions: QuestionPrompt = createQuestionPrompt(screen, onQuestion)
  let conversation: Conversation | undefined
  let isReady = false
  const activity = desk.activity()
  const view = createAgentView({
    activity,
    answers: screen,
    notes: screen,
    isMain: (agent) => conversation?.session.id === agent,
    modelOf: (agent) => (conversation?.session.id === agent ? conversation.session.model : undefined),
    isAsking: () => questions.current() !== undefined,
    // A turn that fails because nobody waits for the store goes on elsewhere, which is said at the end.
    isAwaited: (agent) => options.gone.aborted || (conversation?.isAwaited(agent) ?? false),
    onTask: announcer.news.follow,
    isTold: announcer.news.hasAsked,
    onUnreported: announcer.showResults,
  })
  const isHere = (session: AgentEvent["agent"]): boolean =>
    session === conversation?.session.id || view.selection.agents().some(({ id }) => id === session)
  const seated = { prompt, questions, foreground, announcer, leftTurns, activity }
  const out = createWaysOut(options, { ...seated, conversation: () => conversation })
  const { selection } = view
  const announcing = { announceOpened: announcer.announceOpened, announceEnd: announcer.news.promise }
  const { words, gone, wish } = options
  const { begun } = wish
  const giveBack = (line: string): void => void givenBack.push(line)
  const parts = { meanwhile, desk, screen, selection, activity, foreground, ...announcing, giveBack }
  const toContext = (signal: AbortSignal, talking: Conversation): LineContext => {
    const own = begun && { conversations: [talking.session.id], tasks: begun.tasks }
    return { ...parts, prefix: "/", words, gone, signal, conversation: talking, own }
  }

  async function start(): Promise<Conversation> {
    const session = await startSession(meanwhile, options.wish)
    conversation = createConversation({ ...options, first: session, backgroundAfterMs: view.backgroundAfterMs })
    if (prompt.isTerminal) await greet(meanwhile, screen, session, options.startedAt)
    if (options.isApproving) warnOfYes(screen)
    warnOfHidden(meanwhile, screen)
    await leftTurns.tell(session.id)
    conversation.joinElsewhere()
    await announcer.announceLeft(session.id)
    await tellQuestions(meanwhile, screen)
    isReady = true
    return conversation
  }

  return {
    ...out,
    prompt,
    questions,
    announcer,
    leftTurns,
    view,
    foreground,
    isReady: () => isReady,
    start() {
      start().then(ready.resolve, ready.reject)
      return ready.promise
    },
    background(): void {
      if (conversation) tryToMove({ conversation, foreground, screen })
    },
    /** Lines that were entered before the chat was ready. */
    early: (): readonly string[] => [...early],
    givenBack,
    /** Lines that were entered behind a `/quit`: none of them is carried out. */
    behindQuit: out.quitLine.behind,
    seatPerson: () => options.person?.come(options.isApproving ? createApproveAll(screen) : questions.channel),
    /** A line that is entered before the chat is ready waits until it is. */
    async handle(line: string): Promise<void> {
      if (out.exit.take(line) || out.quitLine.isBefore(line)) return
      if (!isReady && isQuit(line)) return out.exit.leave("quit")
      early.add(line)
      using _hint = createAwayHint(options)
      const talking = await ready.promise
      early.delete(line)
      out.controlC.forget()
      const question = questions.current()
      if (question && !isCommand(line, meanwhile, question)) return questions.take(line)
      const wish = await foreground.run((signal) => {
        const done = runLine(line, toContext(signal, talking))
        if (line.trim().startsWith("/")) hintAtCommandStop(options, signal, done)
        return done
      })
      if (wish === "quit") out.exit.leave("quit")
      else if (question) questions.repeat(question)
    },
  }
}

/** Sessions that stand still until the question at the prompt is answered. */
function findAsking(activity: Activity, { current }: QuestionPrompt): ReadonlySet<AgentEvent["agent"]> {
  const agents = activity.list(current() !== undefined)
  return new Set(agents.flatMap(({ agent, state, isInInbox }) => (state === "needs_you" && !isInInbox ? agent : [])))
}

interface WaysOutParts extends Pick<ControlCParts, "questions" | "foreground" | "conversation"> {
  readonly prompt: ChatPrompt
  readonly questions: QuestionPrompt
  readonly announcer: Announcer
  readonly leftTurns: LeftTurns
  readonly conversation: () => Conversation | undefined
  readonly activity: Activity
}

/** The ways out of a chat, each with the question about work that is under way. */
function createWaysOut({ onExit, desk, screen, leave }: ChatOptions, parts: WaysOutParts) {
  const { prompt, questions, announcer, leftTurns, conversation, activity } = parts
  const asking = () => findAsking(activity, questions)
  const leaving = createLeaving(leave)
  const quitLine = createQuitLine()
  const fate: Fate = onExit === "stop" ? "stop" : "keep"
  const exit = createExitQuestion({
    onExit,
    canAsk: prompt.isTerminal,
    screen,
    findLive: async () =>
      findLiveHere(desk, { news: announcer.news, conversation: conversation(), leftTurns, asking: asking() }),
    end: leaving.end,
    onStay() {
      const question = questions.current()
      if (question) questions.repeat(question)
    },
    onChange(isOpen) {
      if (!isOpen) quitLine.forget()
      prompt.expectAnswer(isOpen || questions.current() !== undefined, isOpen)
    },
  })
  const leaveByKey = (): void => exit.leave("interrupt")
  return {
    leaving,
    asking,
    quitLine,
    fate,
    exit,
    controlC: createControlC({ ...parts, screen, onExit, isLeaving: exit.isOpen, leave: leaveByKey }),
    /** The program is told to end: nobody is asked. */
    leaveNow: () => leaving.end("interrupt", fate),
  }
}

function tryToMove(parts: MovingParts): void {
  const { screen } = parts
  moveToBackground(parts).catch((error: unknown) => screen.print(screen.style.red(plain(toErrorMessage(error)))))
}

/** Keeps lines that are entered behind a `/quit` from being carried out, as the next start would. */
function createQuitLine() {
  const behind: string[] = []
  let hasQuit = false
  return {
    behind: behind as readonly string[],
    /** The person stays after all. */
    forget: (): void => void (hasQuit = false),
    /** True if a `/quit` came before this line. Keeps such a line in `behind` if a person would miss it. */
    isBefore(line: string): boolean {
      if (hasQuit && isMissed(line)) behind.push(line)
      if (hasQuit) return true
      hasQuit = isQuit(line)
      return false
    },
  }
}
