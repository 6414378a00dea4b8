import type { Runtime } from "../../app.ts"
import { MeanwhileError } from "../../base/error.ts"
import { shortId, toLine } from "../format.ts"

export type Group = Awaited<ReturnType<Runtime["tasks"]["groups"]["get"]>>

/** By its name, or the first characters of its id. Of several with one name, one that has not ended goes before. */
export async function findGroup({ tasks }: Pick<Runtime, "tasks">, wanted: string): Promise<Group | undefined> {
  const word = wanted.toLowerCase()
  const groups = await tasks.groups.list()
  const named = groups.filter(({ name }) => name.toLowerCase() === word)
  const found = named.length > 0 ? named : groups.filter(({ id }) => id.startsWith(word))
  const live = found.filter(isLive)
  const [first, second] = live.length > 0 ? live : found.slice(0, 1)
  if (second) throw toAmbiguous(wanted, live)
  return first
}

/** As a person reads it. */
export function toGroupTitle({ id, name }: Group): string {
  return `Group ${toLine(name)} [${shortId(id)}]`
}

function isLive({ state }: Group): boolean {
  return state === "open" || state === "sealed"
}

function toAmbiguous(wanted: string, groups: readonly Group[]): MeanwhileError {
  const ids = groups.slice(0, 5).map(({ id }) => shortId(id))
  return new MeanwhileError(
    "ambiguous_id",
    `Several groups go by ${toLine(wanted)}: ${ids.join(", ")}. Give one of these ids.`,
  )
}
