import { join } from "node:path"
import { endWithTerminal } from "../closed-output.ts"
import { type GlobalOptions, openRuntime } from "../open-runtime.ts"
import { toProgramWords } from "../program-words.ts"
import { createScreen } from "../screen/create-screen.ts"
import { runChat } from "./chat.ts"
import { confirmTrust } from "./confirm-trust.ts"
import { createInterrupts, followSignals } from "./interrupts.ts"
import { createLastAnnouncement } from "./last-announcement.ts"
import { createLatePerson } from "./late-person.ts"

export interface ChatCommandOptions extends GlobalOptions {
  readonly resume?: string | true
  readonly yes?: true
}

/** `meanwhile` without anything after it. */
export async function chat(options: ChatCommandOptions): Promise<void> {
  const startedAt = Date.now()
  const { stdin: input, stdout: output } = process
  const screen = createScreen(output, process.env)
  const isInteractive = input.isTTY && screen.isLive
  const { resume, model, yes = false } = options
  // Without anybody there, approvals wait in the inbox.
  const person = isInteractive || yes ? createLatePerson() : null
  if (input.isTTY) endWithTerminal(input)
  const { meanwhile, dataDirectory, takeEarlyEvents, isStoreAway, leave } = await openRuntime({
    ...options,
    keepsEarlyEvents: true,
    notify: (text) => screen.print(text),
    ...(isInteractive && { confirmTrust }),
    ...(person && { person }),
  })
  const interrupts = createInterrupts()
  followSignals(interrupts)
  const last = createLastAnnouncement(join(dataDirectory, "announced"), meanwhile)
  await runChat({
    meanwhile,
    person,
    takeEarlyEvents,
    isStoreAway,
    leave,
    startedAt,
    input,
    output,
    screen,
    interrupts,
    last,
    isApproving: yes,
    words: toProgramWords(options),
    ...(resume !== undefined && { resume }),
    ...(model !== undefined && { model }),
  })
}
