import { MeanwhileError } from "../../base/error.ts"
import type { GroupFilter } from "../../plugin/group-service.ts"
import type { GroupRecord } from "../../task/group.ts"
import { isIdText, toGivenWorkspace, toOptionalId } from "../../task/given-id.ts"
import type { GroupId } from "../../task/id.ts"
import type { HasStore } from "../run/scope.ts"
import type { RunStatus } from "../../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import { readAll } from "../run/task-pages.ts"

const FULL_ID_LENGTH = 36
const ID_CHARACTERS = /^[0-9a-f-]+$/
const CANDIDATES_SHOWN = 5

/**
 * The group with that name, the newest when several had it, or with that id or unambiguous prefix. Groups of another
 * workspace, or of another session than the given one, are not found.
 */
export async function findGroup({ store }: HasStore, id: string, scope: GroupFilter = {}): Promise<GroupRecord> {
  if (!isIdText(id)) throw noGroup(String(id))
  const filter = toStoredGroups(scope)
  const { workspace, session, states } = filter
  const [named] = await store.groups({ ...filter, name: id }, 1)
  if (named) return named
  const idPrefix = id.toLowerCase()
  if (!ID_CHARACTERS.test(idPrefix)) throw noGroup(id)
  if (idPrefix.length === FULL_ID_LENGTH) {
    const group = await store.group(idPrefix as GroupId)
    const isHere = group?.workspace === workspace && (session === undefined || group.session === session)
    if (!isHere || states?.includes(group.state) === false) throw noGroup(id)
    return group
  }
  const [only, ...others] = await store.groups({ ...filter, idPrefix }, CANDIDATES_SHOWN + 1)
  if (!only) throw noGroup(id)
  if (others.length === 0) return only
  const candidates = [only, ...others].slice(0, CANDIDATES_SHOWN).map((group) => group.id)
  const more = others.length >= CANDIDATES_SHOWN ? " and more" : ""
  const message = `${id} could be any of the groups ${candidates.join(", ")}${more}. Give more of the id.`
  throw new MeanwhileError("ambiguous_id", message, { candidates })
}

/** The filter of a workspace, as the store takes it. */
export function toStoredGroups({ workspace, session, states }: GroupFilter) {
  return {
    workspace: toGivenWorkspace(workspace),
    ...(session !== undefined && { session: toOptionalId("session", session) }),
    ...(states && { states }),
  }
}

function noGroup(id: string): MeanwhileError {
  return new MeanwhileError("not_found", `There is no group ${JSON.stringify(id)}. List the groups to see them.`, {
    id,
  })
}

/** All members, in the order in which they were started. */
export async function listMembers(
  scope: HasStore,
  group: GroupId,
  statuses?: readonly RunStatus[],
): Promise<readonly TaskSummary[]> {
  return (await readAll(scope, { group, ...(statuses && { statuses }) })).toReversed()
}

/** The members as whole records, with their results. */
export async function readMembers(scope: HasStore, group: GroupId): Promise<readonly TaskRecord[]> {
  const members = await listMembers(scope, group)
  const records = await Promise.all(members.map(({ id }) => scope.store.task(id)))
  return records.filter((task) => task !== undefined)
}
