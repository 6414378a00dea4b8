import { join } from "node:path"
import { onTestFinished, test } from "vitest"
import { openRuntime, type Runtime, type RuntimeOptions } from "../../src/app.ts"
import type { Runner } from "../../src/runner/runner.ts"
import type { Clock } from "../../src/base/clock.ts"
import type { JsonObject } from "../../src/base/json.ts"
import { ENGINE_VARIABLE } from "../../src/config/engine-url.ts"
import { createEmbeddedEngine } from "../../src/engine/embedded/engine.ts"
import { createPostgresEngine } from "../../src/engine/postgres/engine.ts"
import { createMigratedFile } from "./embedded/migrated-file.ts"
import { createTestDatabase, START_PATIENCE_MS, type TestDatabase } from "./postgres/server.ts"
import { isWorkerAlive } from "../../src/runner/worker/worker-identity.ts"
import type { Dispatcher } from "../../src/task/dispatcher.ts"
import type { Engine } from "../../src/task/engine.ts"

/** The configuration of the tests sets the variable: each project tests one engine. */
export const isPostgres = process.env["MEANWHILE_TEST_ENGINE"] === "postgres"

const STORE_FILE = "store.sqlite"

/** A test that needs a store in a file: to damage it, to name its path, or to share it with processes that know only a path. */
export const testOfFile: typeof test = isPostgres ? (test.skip as typeof test) : test

export interface TestEngineOptions {
  readonly clock?: Clock
  readonly isHolderAlive?: (data: JsonObject) => boolean | undefined
  /** What `isHolderAlive` of other processes is told about the process that opens the file. */
  readonly holder?: JsonObject
}

/**
 * Opens the store of a folder, with the engine that this run tests. The folder may be opened again later, or several times at
 * once.
 */
export function openStore(folder: string, options: TestEngineOptions = {}): Promise<Engine> {
  return isPostgres ? openPostgres(folder, options) : openFile(folder, options)
}

/** Like `openStore`, and closes the store after the test. */
export async function openTestEngine(folder: string, options: TestEngineOptions = {}): Promise<Engine> {
  const engine = await openStore(folder, options)
  onTestFinished(() => engine.close())
  return engine
}

/** A runtime whose `tasks` are the whole runner, for tests of what conversations ask of it. */
export interface TestRuntime extends Runtime {
  readonly tasks: Runner
}

export async function openWithRunner(options: RuntimeOptions): Promise<TestRuntime> {
  if (options.dataDirectory !== undefined && !options.engine) {
    await createMigratedFile(join(options.dataDirectory, STORE_FILE))
  }
  const { runtime, runner } = await openRuntime(options)
  return { ...runtime, tasks: runner }
}

/** A runtime on the store of its data folder. Without a data folder its store is in memory. */
export async function openTestRuntime(options: RuntimeOptions): Promise<TestRuntime> {
  const { dataDirectory, clock } = options
  if (!isPostgres || options.engine || dataDirectory === undefined) return openWithRunner(options)
  const engine = await openTestEngine(dataDirectory, { isHolderAlive: isWorkerAlive, ...(clock && { clock }) })
  const { dispatcher, hasLooked } = watchFirstLook(engine.dispatcher)
  const runtime = await openWithRunner({ ...options, engine: { ...engine, dispatcher } })
  if (options.takesWork !== false) await hasLooked
  return runtime
}

/** `hasLooked` resolves at the first look into the queue. Until then nobody knows that it is empty, and starts are queued. */
export function watchFirstLook(dispatcher: Dispatcher): { dispatcher: Dispatcher; hasLooked: Promise<void> } {
  const { promise: hasLooked, resolve } = Promise.withResolvers<void>()
  const nextDueInMs = async (): Promise<number | undefined> => {
    resolve()
    return dispatcher.nextDueInMs()
  }
  return { dispatcher: { ...dispatcher, nextDueInMs }, hasLooked }
}

/** The URL of a folder's store on PostgreSQL, which is made if there is none yet; undefined if the store is a file. */
export async function databaseOf(folder: string): Promise<string | undefined> {
  return isPostgres ? (await ensureDatabase(folder)).url : undefined
}

/** Removes a folder's store before the end of a test with many folders. All its engines must be closed. */
export async function removeTestStore(folder: string): Promise<void> {
  const database = databases.get(folder)
  databases.delete(folder)
  await (await database)?.drop()
}

const databases = new Map<string, Promise<TestDatabase>>()

async function openPostgres(folder: string, { clock, isHolderAlive }: TestEngineOptions): Promise<Engine> {
  const { url } = await ensureDatabase(folder)
  return createPostgresEngine({
    url,
    startPatienceMs: START_PATIENCE_MS,
    ...(clock && { clock }),
    ...(isHolderAlive && { isHolderAlive }),
  })
}

/** The variables by which a program opens the folder's store. */
export async function storeVariables(folder: string): Promise<Readonly<Record<string, string>>> {
  const url = await databaseOf(folder)
  return url === undefined ? {} : { [ENGINE_VARIABLE]: url }
}

function ensureDatabase(folder: string): Promise<TestDatabase> {
  const known = databases.get(folder)
  if (known) return known
  const created = createTestDatabase()
  databases.set(folder, created)
  onTestFinished(() => removeTestStore(folder))
  return created
}

/** No test can cut the power, so no commit waits for the disk. */
async function openFile(folder: string, options: TestEngineOptions): Promise<Engine> {
  const path = join(folder, STORE_FILE)
  await createMigratedFile(path)
  return createEmbeddedEngine({ ...options, path, synchronous: "normal" })
}
