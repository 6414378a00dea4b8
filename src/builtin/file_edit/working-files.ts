import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import type { SessionId } from "../../task/id.ts"
import { openFolderOf } from "./anchored-folder.ts"
import type { BackupStore, LastChange } from "./backup-store.ts"
import { type FileState, hashOf, readState, readStateIn } from "./file-state.ts"
import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { replaceFile } from "./replace-file.ts"
import { MeanwhileError } from "../../base/error.ts"
import { createNewestMap } from "../../base/newest-map.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { Place, WorkingRoot } from "./working-root.ts"

export interface FoundFile {
  readonly place: Place
  readonly before: FileState | undefined
  lastChange(): Promise<LastChange>
}

/** A file before and after a change. Undefined: there is no file. */
export interface PlannedChange {
  readonly place: Place
  readonly before: FileState | undefined
  readonly after: Buffer | undefined
}

/** Decides the new content from the file as it was found. The same content means that nothing is to be done. */
export type DecideContent = (found: FoundFile) => Promise<Buffer | undefined> | Buffer | undefined

const MOST_SEEN = 10_000

/** The files of the root, as the tools read and change them. */
export interface WorkingFiles {
  /** Every tool with a path as its input has these fields: they give the path the same meaning in other processes. */
  readonly byPath: Required<Pick<Tool<{ readonly path: string }>, "pin" | "isHere" | "folderOf">>
  read(path: string, session: SessionId | null): Promise<{ readonly place: Place; readonly state: FileState }>
  /** Previews `change`. Changes nothing. */
  plan(path: string, decide: DecideContent): Promise<PlannedChange>
  /** Contract: the old content is in the backups before the file changes. */
  change(path: string, caller: Changer, decide: DecideContent): Promise<PlannedChange>
  /** Refuses a file that has changed since the conversation saw it. A file it never saw, or that is gone, passes. */
  requireUnchanged(session: SessionId | null, found: FoundFile): void
  planUndo(path: string): Promise<PlannedChange>
  /** Takes back the last change that is still in place. */
  undo(path: string, caller: Changer): Promise<PlannedChange>
}

/** The call that changes a file. */
export type Changer = Pick<ToolContext, "session" | "act">

export function createWorkingFiles(root: WorkingRoot, backups: BackupStore): WorkingFiles {
  const oneAtATime = createOneAtATime()
  /** The last content of each file that each conversation saw. In memory: after a restart nothing counts as seen. */
  const seen = createNewestMap<string, string | null>(MOST_SEEN)
  const toSeenKey = (session: SessionId | null, place: Place): string => `${session ?? ""}\0${place.absolute}`

  async function find(path: string): Promise<FoundFile> {
    const place = await root.locate(path, "change")
    const before = await readState(place)
    return { place, before, lastChange: () => backups.lastChange(place, before) }
  }
  async function plan(path: string, decide: DecideContent): Promise<PlannedChange> {
    const found = await find(path)
    return { place: found.place, before: found.before, after: await decide(found) }
  }
  async function planUndo(path: string) {
    const { place, before, lastChange } = await find(path)
    const last = await lastChange()
    if (last.state !== "in_place") throw toNothingToUndo(place, last)
    return { place, before, after: last.previous?.bytes, previous: last.previous, change: last.change }
  }
  const alone = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> =>
    oneAtATime((await root.locate(path, "change")).absolute, work)

  return {
    byPath: {
      pin: (input) => ({ ...input, path: root.pin(input.path) }),
      isHere: ({ path }) => root.isHere(path),
      folderOf: ({ path }) => dirname(path),
    },
    read: async (path, session) => {
      const place = await root.locate(path, "read")
      const state = await readState(place)
      if (!state) throw toMissing(place)
      seen.set(toSeenKey(session, place), state.hash)
      return { place, state }
    },
    plan,
    change: async (path, { session, act }, decide) =>
      alone(path, async () => {
        const planned = await plan(path, decide)
        const { place, before, after } = planned
        const hash = after ? hashOf(after) : null
        if (hash !== (before?.hash ?? null)) {
          await act(() => backups.record(place, before, hash))
          await put(planned, before, act)
        }
        seen.set(toSeenKey(session, place), hash)
        return planned
      }),
    requireUnchanged: (session, { place, before }) => {
      const hash = seen.get(toSeenKey(session, place))
      if (!before || hash === undefined || hash === before.hash) return
      const message = `"${place.path}" was changed by something else since you read it. Read it again, then change it.`
      throw new MeanwhileError("wrong_state", message, { path: place.path })
    },
    planUndo,
    undo: async (path, { session, act }) =>
      alone(path, async () => {
        const { change, previous, ...planned } = await planUndo(path)
        await put(planned, previous, act)
        await backups.dropFrom(planned.place, change)
        seen.set(toSeenKey(session, planned.place), previous?.hash ?? null)
        return planned
      }),
  }
}

export function toMissing({ path }: Place): MeanwhileError {
  return new MeanwhileError("not_found", `There is no file "${path}". Check the path, or make it with writeNewFile.`, {
    path,
  })
}

/** Writes only if the file is still as it was when the change was decided; checks that in the folder it writes to. */
async function put(
  { place, before, after }: PlannedChange,
  like: FileState | undefined,
  act: ToolContext["act"],
): Promise<void> {
  await using folder = await openFolderOf(place)
  const now = await readStateIn(folder, place)
  if (now?.hash !== before?.hash) {
    const message = `"${place.path}" changed while it was being changed. Read it again, then change it.`
    throw new MeanwhileError("wrong_state", message, { path: place.path })
  }
  if (!after) await act(() => rm(folder.at(place.name)))
  else await replaceFile(folder, place.name, after, { exists: now !== undefined, like, act })
}

function toNothingToUndo({ path }: Place, { state }: LastChange): MeanwhileError {
  if (state === "none") {
    return new MeanwhileError("not_found", `No change of "${path}" is left to take back.`, { path })
  }
  const message =
    `"${path}" was changed by something else since, and taking the last change back would lose that. ` +
    "Read it, and put right what is wrong with updateFile."
  return new MeanwhileError("wrong_state", message, { path })
}
