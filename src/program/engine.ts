import type { Variables } from "../base/environment.ts"
import { MeanwhileError } from "../base/error.ts"
import { ENGINE_VARIABLE, findUrlProblem, toShownUrl } from "../config/engine-url.ts"
import { findConfigFile } from "../config/config-file.ts"
import { loadConfig } from "../config/load-config.ts"
import type { TrustStore } from "../config/trust-store.ts"
import { type Finding, findOr, ok, problem, warning } from "./finding.ts"
import { describeDistrust, lookAtFolder, openFolder } from "./folder.ts"

export interface EngineRequest {
  readonly workingDirectory: string
  /** Default: the person's own. */
  readonly homeDirectory?: string
  readonly trustStore?: TrustStore
  /** True to trust what lies in the folder, as it is now. Default: false. */
  readonly trust?: boolean
  /** Tells a person what they should know and need not act on. */
  readonly notify?: (text: string) => void
  /** The URL that was asked for. It goes before everything else. */
  readonly engine?: string
  readonly environment: Variables
}

/**
 * The URL of the store that a program in this folder uses: what was asked for, else the environment's, else a trusted
 * configuration's. Undefined: the store in the data folder.
 */
export async function findEngineUrl(wish: EngineRequest): Promise<string | undefined> {
  const { engine, environment, workingDirectory: directory } = wish
  const given = engine ?? readVariable(environment)
  if (given !== undefined) return given
  if (!(await isTrusted(wish))) return undefined
  const { CONFIG_SPELLINGS, configSections } = await import("../config-sections.ts")
  const program = { sections: configSections(), spellings: CONFIG_SPELLINGS }
  const { values } = await loadConfig({ ...program, directory, isTrusted: true, environment })
  return values.engine ?? undefined
}

/**
 * True if the folder is trusted. An untrusted configuration is not read, and the person is told that it may name
 * another store.
 */
async function isTrusted(wish: EngineRequest): Promise<boolean> {
  const { workingDirectory, trust: isWanted = false, notify = () => {} } = wish
  const { trust } = await (isWanted ? openFolder({ ...wish, trust: true, notify }) : lookAtFolder(wish))
  if (trust === "trusted") return true
  const config = await findConfigFile(workingDirectory)
  if (config) {
    const unread = `${config.name} may name another store, and was not read: ${describeDistrust(trust)}`
    notify(`${unread}. \`meanwhile trust\` or --trust changes that.`)
  }
  return false
}

function readVariable(environment: Variables): string | undefined {
  const text = environment[ENGINE_VARIABLE]
  if (!text) return undefined
  const found = findUrlProblem(text)
  if (found === undefined) return text
  throw new MeanwhileError("invalid_input", `The environment variable ${ENGINE_VARIABLE} ${found}.`)
}

export interface MigrationRequest extends EngineRequest {
  /** A role that may use the store from then on, without the right to change its tables. */
  readonly grantTo?: string
  /** Called with a line about each step that takes long. */
  readonly tell: (line: string) => void
}

/** Brings the store to this version, and says in words what it did. */
export async function migrateEngine(wish: MigrationRequest): Promise<readonly string[]> {
  const { grantTo, tell } = wish
  const url = await findEngineUrl(wish)
  if (url === undefined) throw new MeanwhileError("invalid_input", NO_ENGINE)
  const { migrateStore } = await import("../engine/postgres/schema/migrate-store.ts")
  const done = await migrateStore({ url, tell, ...(grantTo !== undefined && { grantTo }) })
  const place = toShownUrl(url)
  const untouched = grantTo === undefined ? "nothing was changed" : "its tables were left as they are"
  return [
    done.hasChanged ? `${place} was brought to this version.` : `${place} has this version already: ${untouched}.`,
    ...(grantTo === undefined
      ? []
      : [`The role ${grantTo} ${done.hasGranted ? "may use it now" : "may use it, as before"}.`]),
  ]
}

const NO_ENGINE = `No store on PostgreSQL was named. Give --engine postgres://user@host/database, or set ${ENGINE_VARIABLE}. (The store in a data folder is brought to this version by itself, whenever it is opened.)`

/** Checks the store, and changes nothing. Whatever would make a start fail is a problem. */
export function examineServer(url: string, tell?: (line: string) => void): Promise<readonly Finding[]> {
  return findOr("engine", "Fix the problem above, or use another store: --engine URL", async () => {
    const { lookAtStore } = await import("../engine/postgres/schema/migrate-store.ts")
    const { serverVersion, isCurrent, lacking } = await lookAtStore({ url, ...(tell && { tell }) })
    const text = `PostgreSQL ${serverVersion} at ${toShownUrl(url)}`
    if (lacking !== null) return [problem("engine", `${text}: ${lacking.cause}`, lacking.fix)]
    if (isCurrent) return [ok("engine", `${text}, with the tables of this version`)]
    return [warning("engine", `${text} does not have the tables of this version yet`, "The next start makes them.")]
  })
}
