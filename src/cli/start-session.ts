import type { Runtime } from "../app.ts"
import { MeanwhileError } from "../base/error.ts"
import type { BegunHere } from "./begun-here.ts"
import { shortId } from "./format.ts"

type Session = Awaited<ReturnType<Runtime["createSession"]>>

export interface SessionWish {
  /** The id of a session, or the beginning of one; `true`: the last chat, else the last one. Without it: a new one. */
  readonly resume?: string | true
  /** `provider/name`. */
  readonly model?: string
  /** Of a new one. Default `main`. */
  readonly name?: string
  /** A new one is remembered in it; null: nobody has to. */
  readonly begun: BegunHere | null
}

/** A new session, or one to go on with. */
export async function startSession(meanwhile: Runtime, { resume, model, name, begun }: SessionWish): Promise<Session> {
  const create = async (options: Parameters<Runtime["createSession"]>[0]): Promise<Session> => {
    const session = await meanwhile.createSession(options)
    begun?.conversations.add(session.id)
    return session
  }
  if (resume === undefined) {
    return create({ ...(model !== undefined && { model }), ...(name !== undefined && { name }) })
  }
  const id = await findSession(meanwhile, resume)
  const session = id === undefined ? await create({}) : await meanwhile.openSession(id)
  if (model !== undefined) await session.useModel(model)
  return session
}

/** Undefined when the last one is wanted and there is none. */
async function findSession({ sessions }: Runtime, wanted: string | true): Promise<Session["id"] | undefined> {
  const known = await sessions.list()
  if (wanted === true) return (known.find(({ name }) => name === "main") ?? known[0])?.id
  const found = known.filter(({ id }) => id === wanted || id.startsWith(wanted.toLowerCase()))
  const [first, second] = found
  if (!first) {
    throw new MeanwhileError("not_found", `There is no session ${wanted}. /sessions in a chat lists those there are.`)
  }
  if (second) {
    const ids = found.slice(0, 5).map(({ id }) => shortId(id))
    throw new MeanwhileError(
      "ambiguous_id",
      `Several sessions begin with ${wanted}: ${ids.join(", ")}. Give more of it.`,
    )
  }
  return first.id
}
