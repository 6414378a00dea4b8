import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EXPECTED_LIVE } from "../../../src/engine/suite/oracle.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import { createPostgresEngine } from "../../../src/engine/postgres/engine.ts"
import { isWorkerAlive } from "../../../src/runner/worker/worker-identity.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../../src/task/id.ts"
import { type Child, startChild } from "./child.ts"
import { createCrashSite } from "./crash-site.ts"
import { describeLive } from "./store-invariants.ts"
import { withPatience } from "../patience.ts"
import { findTurnViolations, type TurnExpectations } from "./turn-invariants.ts"
import type { TurnOrders, TurnReport } from "./turn-protocol.ts"
import { readStoredSession } from "./turn-record.ts"
import type { TurnScenario } from "./turn-scenario.ts"
import type { TurnWire } from "./turn-wire.ts"
import { builtProgram } from "../built-program.ts"

const PROGRAM = builtProgram("turn-program")
const REAL_PROGRAM = builtProgram("cli/main")
const PLUGIN = builtProgram("story-plugin")

/** A folder with a real store, in which programs take a turn and are killed. */
export interface TurnSite {
  /** The effects of all programs, in the order in which they happened. */
  effects(): readonly string[]
  /** Resolves once `count` effects have happened, or the program has ended. */
  happened(count: number, child: Child): Promise<void>
  /** How often the model was asked. */
  questions(): number
  /** Resolves once the model has been asked `count` times, or the program has ended. */
  asked(count: number, child: Child): Promise<void>
  /** True if the store has a live turn. */
  isInTurn(): Promise<boolean>
  start(orders: Partial<TurnOrders>): Child
  /** Starts the program that people use, with the story as its prompt, or as a chat in which nobody says anything. */
  startReal(as: "run" | "chat"): Child
  /** The id of the only session in the store. */
  findSession(): Promise<SessionId | undefined>
  /** Waits for a program that ends by itself. */
  ended(child: Child): Promise<void>
  openStore(): Promise<Engine>
  /** Judges the store after a last life without a crash. */
  findViolations(known: KnownOfTurn): Promise<readonly string[]>
  remove(): void
}

export interface KnownOfTurn extends Pick<TurnExpectations, "crashes" | "answers" | "unsaved"> {
  /** Default: all there are. */
  readonly effects?: readonly string[]
  /** Default: the scenario's. */
  readonly session?: SessionId
}

const LOOK_EVERY_MS = 2

export interface TurnSiteOptions {
  /** The URL of a store on a server. Without it, one in the folder. */
  readonly engine?: string
}

export function createTurnSite(wire: TurnWire, scenario: TurnScenario, options: TurnSiteOptions = {}): TurnSite {
  const { engine: url } = options
  const { directory, effectsFile, dataDirectory, remove } = createCrashSite()
  const children = new Set<Child>()
  let questions = 0
  wire.listen(scenario.story, effectsFile, () => (questions += 1))
  const effects = (): readonly string[] =>
    existsSync(effectsFile) ? readFileSync(effectsFile, "utf8").trimEnd().split("\n") : []
  const openStore = (): Promise<Engine> =>
    url === undefined
      ? createEmbeddedEngine({ path: join(dataDirectory, "store.sqlite"), isHolderAlive: isWorkerAlive })
      : createPostgresEngine({ url })
  async function describeStore(): Promise<string> {
    await using engine = await openStore()
    return await describeLive(engine.store)
  }

  return {
    effects,
    happened: (count, child) => until(child, () => effects().length >= count),
    questions: () => questions,
    asked: (count, child) => until(child, () => questions >= count),
    async isInTurn() {
      await using engine = await openStore()
      return (await engine.store.countTasks({ kinds: ["turn"], statuses: EXPECTED_LIVE })) > 0
    },
    start(orders) {
      const { session } = scenario
      const own = {
        directory,
        session,
        baseUrl: wire.baseUrl,
        leaseSeconds: 15,
        ...(url !== undefined && { engine: url }),
      }
      const parameters = [JSON.stringify({ ...own, ...orders })]
      const child = startChild({ program: PROGRAM, parameters, directory })
      children.add(child)
      return child
    },
    startReal(as) {
      writeConfig(directory, wire.baseUrl, effectsFile)
      const command = as === "run" ? ["run", scenario.prompt, "--yes"] : []
      const parameters = [...command, "--trust", "--data-dir", dataDirectory]
      const child = startChild({
        program: REAL_PROGRAM,
        parameters,
        directory,
        environment: { STORY_KEY: "nobody-checks-this", ...(url !== undefined && { MEANWHILE_ENGINE: url }) },
      })
      children.add(child)
      // Closes the pipe: the program waits three seconds for input on an open one.
      if (as === "run") child.process.stdin?.end()
      return child
    },
    async findSession() {
      await using engine = await openStore()
      const { items } = await engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 2 })
      return items.length === 1 ? items[0]?.id : undefined
    },
    ended: (child) => withPatience(child.exited, async () => `${child.lines.join("\n")}\n${await describeStore()}`),
    openStore,
    async findViolations({ effects: seen = effects(), session = scenario.session, ...counted }) {
      await using engine = await openStore()
      const { store } = engine
      const leases = await store.leases("worker:")
      const isKnown = (await readStoredSession(store, session)) !== undefined
      const found = isKnown
        ? await findTurnViolations(store, { ...scenario, ...counted, session, effects: seen })
        : seen.map((effect) => `${effect} happened in a turn that nobody knows`)
      const left = leases.map(({ key }) => `${key} is registered and gone`)
      return [...found, ...left].map((violation) => `${violation}\n  ${seen.join("\n  ")}`)
    },
    remove() {
      for (const child of children) child.process.kill("SIGKILL")
      remove()
    },
  }
}

/** The model and the tools of the story, as a folder's configuration brings them. */
function writeConfig(directory: string, baseUrl: string, effectsFile: string): void {
  const config = {
    agent: { model: "local/story" },
    providers: { local: { baseUrl, apiKeyEnv: "STORY_KEY" } },
    plugins: [{ source: PLUGIN, config: { effectsFile } }],
  }
  writeFileSync(join(directory, "meanwhile.config.json"), JSON.stringify(config))
}

function until({ exited, lines }: Child, isReached: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = (): void => {
    if (isReached()) resolve()
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  look()
  return withPatience(Promise.race([promise, exited]), () => lines.join("\n")).finally(() => clearInterval(timer))
}

export function reportsOf(child: Child): readonly TurnReport[] {
  return child.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as TurnReport)
}

export function countAnswers(child: Child): number {
  return reportsOf(child).filter((report) => "answered" in report).length
}
