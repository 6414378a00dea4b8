import { createInterface, type Interface } from "node:readline"
import type { Runtime } from "../../app.ts"
import { plain, shortId } from "../format.ts"
import { openQuestions } from "../inbox.ts"
import type { Screen } from "../screen/screen.ts"
import { type SessionWish, startSession } from "../start-session.ts"
import { createAgentView } from "../view/agent-view.ts"
import { createAnnouncer } from "./announcer.ts"
import { createControlC } from "./control-c.ts"
import { type Conversation, createConversation } from "./conversation.ts"
import { type Ending, shutDown } from "./ending.ts"
import { createForeground } from "./foreground.ts"
import type { Interrupts } from "./interrupts.ts"
import type { LastAnnouncement } from "./last-announcement.ts"
import { createLeftTurns } from "./left-turns.ts"
import { obey } from "./obey.ts"
import { createQuestionDesk } from "./question-desk.ts"
import { createYesChannel } from "./yes-channel.ts"

export interface ChatOptions extends SessionWish {
  readonly meanwhile: Runtime
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
  readonly screen: Screen
  readonly interrupts: Interrupts
  readonly last: LastAnnouncement
  /** Says yes to every approval. */
  readonly isApproving: boolean
}

const PROMPT = "> "
const QUESTION_PROMPT = "? "

/** Talks until `/quit`, the end of input, or Ctrl+C; then shuts down. */
export async function runChat(options: ChatOptions): Promise<void> {
  const { meanwhile, screen, interrupts } = options
  const prompt = openPrompt(options)
  const ending = Promise.withResolvers<Ending>()
  const foreground = createForeground()
  const announcer = createAnnouncer(meanwhile, screen, options.last)
  const leftTurns = createLeftTurns(meanwhile, screen)
  const desk = createQuestionDesk(screen, (isOpen) => {
    prompt.setPrompt(isOpen ? QUESTION_PROMPT : PROMPT)
    screen.refresh()
  })
  let conversation: Conversation | undefined
  const view = createAgentView({
    answers: screen,
    notes: screen,
    isMain: (agent) => conversation?.session.id === agent,
    isAwaited: (agent) => conversation?.isAwaited(agent) ?? false,
    onTask: announcer.announceEnd,
  })
  const controlC = createControlC({
    prompt,
    screen,
    desk,
    foreground,
    conversation: () => conversation,
    leave: () => ending.resolve("interrupt"),
  })

  const context = { meanwhile, screen, prefix: "/", announceEnd: announcer.announceEnd } as const

  /** A line typed before everything is ready waits for it. */
  async function handle(line: string): Promise<void> {
    const talking = await ready
    controlC.forget()
    if (desk.isOpen()) return desk.take(line)
    const wish = await foreground.run((signal) => obey(line, { ...context, signal, conversation: talking }))
    if (wish === "quit") ending.resolve("quit")
  }

  async function start(): Promise<Conversation> {
    const session = await startSession(meanwhile, options)
    conversation = createConversation(meanwhile, screen, session)
    if (prompt.terminal) greet(screen, session, options.resume !== undefined)
    await leftTurns.tell()
    await announcer.announceLeft()
    await tellQuestions(meanwhile, screen)
    return conversation
  }

  const unlisten = meanwhile.on(view.show)
  const detach = attachPerson(options, prompt, () => desk.channel)
  const ignore = interrupts.onEach((interrupt) => {
    if (interrupt === "key") controlC.press()
    else ending.resolve("interrupt")
  })
  prompt.on("SIGINT", controlC.press)
  const ready = start()
  // Before anything is awaited: a line that nobody listens for is lost.
  const lines = prompt.terminal ? attachPrompt(prompt, screen, handle) : followPipe(prompt, handle)
  lines.then(() => ending.resolve("end of input"), ending.reject)
  try {
    const [talking, reason] = await Promise.all([ready, ending.promise])
    ignore()
    prompt.close()
    detach()
    view.close()
    screen.detach()
    await shutDown({ meanwhile, screen, interrupts, announcer, conversation: talking, leftTurns }, reason)
  } finally {
    unlisten()
    prompt.close()
    screen.detach()
    announcer.close()
    await meanwhile.close()
  }
}

function openPrompt({ input, output, screen }: ChatOptions): Interface {
  if (!input.isTTY || !screen.isLive) return createInterface({ input, terminal: false })
  return createInterface({ input, output, terminal: true, prompt: PROMPT })
}

/** At a terminal every line is obeyed at once, whatever runs. Resolves when no more can come. */
function attachPrompt(prompt: Interface, screen: Screen, handle: (line: string) => Promise<void>): Promise<void> {
  screen.attach(prompt)
  return new Promise((resolve, reject) => {
    prompt.on("line", (line) => {
      screen.enterLine(line)
      handle(line).catch(reject)
    })
    prompt.once("close", resolve)
  })
}

/** From a pipe one after the other, as a script expects. */
async function followPipe(prompt: Interface, handle: (line: string) => Promise<void>): Promise<void> {
  for await (const line of prompt) await handle(line)
}

/** Without anybody there, approvals wait in the inbox. */
function attachPerson(
  { meanwhile, screen, isApproving }: ChatOptions,
  prompt: Interface,
  desk: () => Parameters<Runtime["attach"]>[0],
): () => void {
  if (isApproving) return meanwhile.attach(createYesChannel(screen))
  return prompt.terminal ? meanwhile.attach(desk()) : () => {}
}

function greet(screen: Screen, { id, model }: Conversation["session"], isResumed: boolean): void {
  const what = isResumed ? `Going on with session ${shortId(id)}` : "Meanwhile"
  screen.print(`${screen.style.bold(what)}: you talk with ${plain(model)}. /help lists the commands.`)
  if (model.startsWith("offline/")) {
    screen.print(screen.style.dim("No key of a provider was found: this model follows a list of sentences. Say: help"))
  }
}

async function tellQuestions(meanwhile: Runtime, screen: Screen): Promise<void> {
  const { length } = await openQuestions(meanwhile)
  if (length > 0) {
    screen.print(`${length === 1 ? "1 task waits" : `${length} tasks wait`} for your answer: see /inbox`)
  }
}
