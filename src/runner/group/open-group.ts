import { MeanwhileError, isMeanwhileError } from "../../base/error.ts"
import type { GroupRequest } from "../../plugin/group-service.ts"
import type { GroupDetails, GroupJoin, GroupRecord } from "../../task/group.ts"
import { toGivenWorkspace, toOptionalId } from "../../task/given-id.ts"
import { createGroupId, type SessionId } from "../../task/id.ts"
import { checkName } from "../admit/details.ts"
import type { HasActive, HasClock, HasRedactor, HasStore, HasWritten } from "../run/scope.ts"
import { createStoreRetry } from "../run/store-retry.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"

const LONGEST_NAME = 200
const REPORTS: readonly string[] = ["combined", "each", "none"]
const MERGES: readonly string[] = ["append", "replace", "human_gated"]
const FIXED = ["join", "failFast", "report", "merge"] as const

/** The open group of that name in the session, or a new one. The options of an open group cannot be changed. */
export async function openGroup(scope: HasStore & HasWritten, request: GroupRequest): Promise<GroupRecord> {
  const { name } = request
  const workspace = toGivenWorkspace(request.workspace)
  const session = toOptionalId("session", request.session)
  scope.written.sessions.note(session)
  const [known] = await scope.store.groups({ workspace, session, name, states: ["open"] }, 1)
  if (known) return requireSame(known, request)
  const details: GroupDetails = {
    id: createGroupId(),
    workspace,
    session,
    name,
    join: request.join ?? "all",
    failFast: request.failFast ?? false,
    report: request.report ?? "combined",
    merge: request.merge ?? "append",
  }
  const [group] = await scope.store.commit([{ op: "group.create", details }])
  return group
}

export function checkGroupRequest({ redactor }: HasRedactor, request: GroupRequest): void {
  const { name, join, report, merge } = request
  if (typeof name !== "string" || name.trim() === "" || name.length > LONGEST_NAME)
    refuse("name", `must be a text of 1 to ${LONGEST_NAME} characters`)
  checkName(redactor, "name of the group", name)
  toGivenWorkspace(request.workspace)
  toOptionalId("session", request.session)
  if (!isJoin(join)) refuse("join", `must be all, any or a whole number above 0, not ${String(join)}`)
  if (report !== undefined && !REPORTS.includes(report))
    refuse("report", `must be one of ${REPORTS.join(", ")}, not ${report}`)
  if (merge !== undefined && !MERGES.includes(merge))
    refuse("merge", `must be one of ${MERGES.join(", ")}, not ${merge}`)
}

/** True for a valid number of ends to wait for. Undefined: as many as the group itself says, or all of the named tasks. */
export function isJoin(count: GroupJoin | undefined): boolean {
  return count === undefined || count === "all" || count === "any" || (Number.isSafeInteger(count) && count > 0)
}

function requireSame(known: GroupRecord, request: GroupRequest): GroupRecord {
  for (const field of FIXED) {
    if (request[field] === undefined || request[field] === known[field]) continue
    const message = `The group ${known.name} is open with \`${field}\` ${String(known[field])}, which cannot become ${String(request[field])}. Leave \`${field}\` out, or give the group another name.`
    throw new MeanwhileError("invalid_input", message, { field, groupId: known.id })
  }
  return known
}

function refuse(field: string, problem: string): never {
  throw new MeanwhileError("invalid_input", `The group's \`${field}\` ${problem}.`, { field })
}

const MOST_AT_ONCE = 1_000

/** Seals a group, so that it takes no more members. A group that is sealed or joined already is returned as it is. */
export async function sealGroup({ store }: HasStore, group: GroupRecord): Promise<GroupRecord> {
  if (group.state === "cancelled") {
    const message = `The group ${group.name} was cancelled and cannot be sealed. Open another one.`
    throw new MeanwhileError("wrong_state", message, { groupId: group.id, state: group.state })
  }
  if (group.state !== "open") return group
  try {
    const [sealed] = await store.commit([{ op: "group.move", groupId: group.id, to: "sealed" }])
    return sealed
  } catch (error) {
    // Somebody else was first, and what they did stands.
    const found = isMeanwhileError(error, "wrong_state") ? await store.group(group.id) : undefined
    if (!found || found.state === "open") throw error
    return found
  }
}

/**
 * Seals the open groups of a session after a turn: nobody adds to them any more, and they join as they are. Tries again
 * while the store takes no writes: otherwise nobody would hear of their results before the session is opened again.
 */
export async function sealOpenGroups(
  scope: HasStore & HasClock & HasActive,
  session: SessionId,
): Promise<readonly GroupRecord[]> {
  for (const retry = createStoreRetry(scope); ; await retry.pause()) {
    try {
      const open = await scope.store.groups({ session, states: ["open"] }, MOST_AT_ONCE)
      const sealed: GroupRecord[] = []
      for (const group of open) sealed.push(await sealGroup(scope, group))
      return sealed
    } catch (error) {
      if (!isRefusedForNow(error) || retry.isOver()) throw error
    }
  }
}
