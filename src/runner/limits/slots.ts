import type { SessionId } from "../../task/id.ts"
import type { BackgroundConfig } from "./background-config.ts"

/** The limits that a running task counts against. */
export interface SlotKeys {
  readonly workspace: string
  readonly session: SessionId | null
  readonly plugin: string
  readonly model: string | null
}

/** Counts the tasks that run in this process, against every limit. Turns and foreground calls take no slot. */
export interface Slots {
  /** Returns false and takes nothing when any limit is reached. */
  tryTake(keys: SlotKeys): boolean
  /** A promotion or adoption may exceed the limits: its work already runs. */
  take(keys: SlotKeys): void
  release(keys: SlotKeys): void
  free(): number
  /** How many more tasks of the plugin may run. */
  roomOf(plugin: string): number
  fullSessions(): readonly SessionId[]
  fullWorkspaces(): readonly string[]
  fullModels(): readonly string[]
}

export function createSlots(config: BackgroundConfig): Slots {
  let taken = 0
  const plugins = createCounter<string>(() => config.maxConcurrentPerPlugin)
  const sessions = createCounter<SessionId>(() => config.maxConcurrentPerSession)
  const workspaces = createCounter<string>(() => config.maxConcurrentPerWorkspace)
  const models = createCounter<string>((model) => config.maxConcurrentPerModel[model] ?? null)

  function add(keys: SlotKeys, by: 1 | -1): void {
    taken += by
    plugins.add(keys.plugin, by)
    workspaces.add(keys.workspace, by)
    if (keys.session !== null) sessions.add(keys.session, by)
    if (keys.model !== null) models.add(keys.model, by)
  }

  return {
    tryTake(keys) {
      const isFull =
        taken >= config.maxConcurrentTasks ||
        plugins.isFull(keys.plugin) ||
        workspaces.isFull(keys.workspace) ||
        (keys.session !== null && sessions.isFull(keys.session)) ||
        (keys.model !== null && models.isFull(keys.model))
      if (!isFull) add(keys, 1)
      return !isFull
    },
    take: (keys) => add(keys, 1),
    release: (keys) => add(keys, -1),
    free: () => Math.max(0, config.maxConcurrentTasks - taken),
    roomOf: plugins.roomOf,
    fullSessions: sessions.full,
    fullWorkspaces: workspaces.full,
    fullModels: models.full,
  }
}

function createCounter<Key extends string>(limitOf: (key: Key) => number | null) {
  const counts = new Map<Key, number>()
  const roomOf = (key: Key): number => Math.max(0, (limitOf(key) ?? Number.POSITIVE_INFINITY) - (counts.get(key) ?? 0))
  const isFull = (key: Key): boolean => roomOf(key) === 0
  return {
    roomOf,
    isFull,
    add(key: Key, by: 1 | -1): void {
      const next = (counts.get(key) ?? 0) + by
      if (next > 0) counts.set(key, next)
      else counts.delete(key)
    },
    full: (): readonly Key[] => [...counts.keys()].filter(isFull),
  }
}
