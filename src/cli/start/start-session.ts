import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { Desk } from "../../desk/desk.ts"
import type { ScreenRuntime } from "../../program/open-program.ts"
import type { BegunHere } from "./begun-here.ts"
import { openDesk } from "./person-desk.ts"

const MOST_LOOKED_AT = 100

/** A conversation that is open here. */
export type Session = Awaited<ReturnType<ScreenRuntime["createSession"]>>

export interface SessionWish {
  /** The id of a session, or its beginning; `true`: the last chat, else the last session. Default: a new session. */
  readonly resume?: string | true
  /** `provider/name`. */
  readonly model?: string
  /** The name of a new session. Default `main`. */
  readonly name?: string
  /** Remembers a new session as begun here; null: not needed. */
  readonly begun: BegunHere | null
}

/** Makes a new session, or opens one to go on with. */
export async function startSession(
  meanwhile: ScreenRuntime,
  { resume, model, name, begun }: SessionWish,
): Promise<Session> {
  const create = async (options: Parameters<ScreenRuntime["createSession"]>[0]): Promise<Session> => {
    const session = await meanwhile.createSession(options)
    begun?.conversations.add(session.id)
    return session
  }
  if (resume === undefined) {
    return create({ ...(model !== undefined && { model }), ...(name !== undefined && { name }) })
  }
  const id = await findSession(openDesk(meanwhile), resume)
  const session = id === undefined ? await create({}) : await meanwhile.openSession(id)
  if (model !== undefined) await session.useModel(model)
  return session
}

/** Undefined: the last session is wanted, and there is none. */
async function findSession(
  { sessions }: Pick<Desk, "sessions">,
  wanted: string | true,
): Promise<Session["id"] | undefined> {
  if (wanted !== true) return (await findNamed(sessions, wanted)).id
  const known = await sessions.list(MOST_LOOKED_AT)
  return (known.find(({ name }) => name === "main") ?? known[0])?.id
}

async function findNamed(sessions: Desk["sessions"], wanted: string): ReturnType<Desk["sessions"]["find"]> {
  try {
    return await sessions.find(wanted)
  } catch (error) {
    if (!isMeanwhileError(error, "not_found")) throw error
    throw new MeanwhileError("not_found", `There is no session ${wanted}. In a chat, /sessions lists them.`)
  }
}
