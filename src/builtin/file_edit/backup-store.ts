import { createHash, randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import { type FileState, hashOf } from "./file-state.ts"
import { unlessMissing } from "../../base/system-error.ts"
import type { Place } from "./working-root.ts"

const changeSchema = lazily(() => {
  const hash = z.string().regex(/^[0-9a-f]{64}$/)
  return z.object({
    number: z.number().int().positive(),
    /** Null: there was no file. */
    before: z.object({ hash, mode: z.number().int(), user: z.number().int(), group: z.number().int() }).nullable(),
    /** Null: there is no file any more. */
    after: hash.nullable(),
  })
})

const historySchema = lazily(() => z.object({ path: z.string(), changes: z.array(changeSchema()) }))

/** One change of a file, recorded before it is made. After a crash, a recorded change may never have happened. */
export type RecordedChange = z.infer<ReturnType<typeof changeSchema>>

/** The newest recorded change that the file still shows, unless something else has changed the file since. */
export type LastChange =
  | { readonly state: "in_place"; readonly change: RecordedChange; readonly previous: FileState | undefined }
  | { readonly state: "none" }
  | { readonly state: "overwritten" }

/** Copies of files before each change: a folder per file, a numbered copy per change. */
export interface BackupStore {
  /** Contract: when it resolves, the old content is safe. */
  record(place: Place, before: FileState | undefined, after: string | null): Promise<void>
  /**
   * Passes over the newest changes whose old content is what the file has now: a crash kept them from being made, or
   * somebody took them back.
   */
  lastChange(place: Place, current: FileState | undefined): Promise<LastChange>
  /** Forgets this change and all after it. */
  dropFrom(place: Place, change: RecordedChange): Promise<void>
}

export function createBackupStore(directory: string, mostPerFile: number): BackupStore {
  const folderOf = ({ absolute }: Place): string =>
    join(directory, createHash("sha256").update(absolute).digest("hex").slice(0, 32))
  const copyOf = (place: Place, { number }: Pick<RecordedChange, "number">): string =>
    join(folderOf(place), `${number}.before`)

  /** The oldest first. */
  async function changesOf(place: Place): Promise<readonly RecordedChange[]> {
    const text = await unlessMissing(readFile(join(folderOf(place), "changes.json"), "utf8"))
    try {
      return text === undefined ? [] : historySchema().parse(JSON.parse(text)).changes
    } catch (error) {
      throw toDamaged(place, error)
    }
  }
  async function keep(place: Place, changes: readonly RecordedChange[]): Promise<void> {
    await writeWhole(join(folderOf(place), "changes.json"), JSON.stringify({ path: place.absolute, changes }))
  }
  async function removeCopies(place: Place, changes: readonly RecordedChange[]): Promise<void> {
    for (const change of changes) await rm(copyOf(place, change), { force: true })
  }
  async function contentBefore(place: Place, change: RecordedChange): Promise<FileState | undefined> {
    if (!change.before) return undefined
    const { hash, mode, user, group } = change.before
    const bytes = await unlessMissing(readFile(copyOf(place, change)))
    if (!bytes || hashOf(bytes) !== hash) throw toDamaged(place)
    return { bytes, hash, mode, owner: { user, group } }
  }

  return {
    record: async (place, before, after) => {
      const known = await changesOf(place)
      const number = (known.at(-1)?.number ?? 0) + 1
      await mkdir(folderOf(place), { recursive: true, mode: 0o700 })
      if (before) await writeWhole(copyOf(place, { number }), before.bytes)
      const state = before ? { hash: before.hash, mode: before.mode, ...before.owner } : null
      const all = [...known, { number, before: state, after }]
      await keep(place, all.slice(-mostPerFile))
      await removeCopies(place, all.slice(0, -mostPerFile))
    },
    lastChange: async (place, current) => {
      const hash = current?.hash ?? null
      for (const change of (await changesOf(place)).toReversed()) {
        if (change.after === hash) return { state: "in_place", change, previous: await contentBefore(place, change) }
        if ((change.before?.hash ?? null) !== hash) return { state: "overwritten" }
      }
      return { state: "none" }
    },
    dropFrom: async (place, change) => {
      const known = await changesOf(place)
      const kept = known.filter(({ number }) => number < change.number)
      await keep(place, kept)
      await removeCopies(place, known.slice(kept.length))
    },
  }
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  await writeFile(temporary, content, { mode: 0o600, flush: true })
  await rename(temporary, path)
}

function toDamaged({ path }: Place, cause?: unknown): MeanwhileError {
  const message = `The backups of "${path}" are damaged, so it is left as it is. Remove them to begin anew.`
  return new MeanwhileError("store_damaged", message, { path }, { cause })
}
