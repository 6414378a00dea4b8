import { hostname } from "node:os"
import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import { retryWhileBusy } from "./sqlite/busy-retry.ts"
import type { IsHolderAlive } from "../rules/lease-watch.ts"
import { isSqliteError } from "./sqlite/sqlite-error.ts"
import type { Prepare } from "./sqlite/statement.ts"

/** The engines that have this store open, this one and those of other processes. */
export interface Attachments {
  /** The id of this engine, which no other store has. */
  readonly id: string
  /** True if the store lists this engine. Another process takes those out that it believes dead. */
  isListed(): boolean
  /** True if another engine is registered that is not known to be dead. */
  hasOthers(): boolean
  detach(): void
}

interface AttachOptions {
  readonly isHolderAlive: IsHolderAlive
  /** Facts about this process. */
  readonly holder: JsonObject
  readonly onLocked: () => void
}

/** Registers this engine and forgets those whose process is dead. */
export async function attach(
  prepare: Prepare,
  clock: Clock,
  { isHolderAlive, holder, onLocked }: AttachOptions,
): Promise<Attachments> {
  const id = crypto.randomUUID()
  const insert = prepare("INSERT OR REPLACE INTO attachments (id, opened_at, data) VALUES (?, ?, ?)")
  const others = prepare<{ id: string; data: string }>("SELECT id, data FROM attachments WHERE id <> ?")
  const own = prepare("SELECT 1 FROM attachments WHERE id = ?")
  const remove = prepare("DELETE FROM attachments WHERE id = ?")

  const isDead = ({ data }: { data: string }): boolean => {
    const holderData = JSON.parse(data) as JsonObject
    return (isHolderAlive(holderData) ?? isProcessAlive(holderData)) === false
  }

  await retryWhileBusy(() => {
    insert.run(id, clock.now(), JSON.stringify({ ...holder, host: hostname(), pid: process.pid }))
    for (const other of others.all(id)) if (isDead(other)) remove.run(other.id)
  }, onLocked)

  return {
    id,
    isListed: () => own.get(id) !== undefined,
    hasOthers: () => others.all(id).some((other) => !isDead(other)),
    /** Best effort: a row that stays behind is removed by the next engine that attaches once this process is dead. */
    detach() {
      try {
        remove.run(id)
      } catch (error) {
        if (!isSqliteError(error)) throw error
      }
    },
  }
}

function isProcessAlive({ host, pid }: JsonObject): boolean | undefined {
  if (host !== hostname() || typeof pid !== "number") return undefined
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCodeOf(error) === "EPERM"
  }
}
