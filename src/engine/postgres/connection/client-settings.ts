import pg from "pg"
import { MeanwhileError } from "../../../base/error.ts"
import type { ConnectionOptions } from "./database.ts"
import type { StoreName } from "./store-error.ts"

/** The settings of every connection of one store, and the name of the store for people. */
export interface ClientSettings extends Pick<StoreName, "server" | "role"> {
  readonly client: pg.ClientConfig
  readonly schema: string
  /** The settings of the session, as statements, for servers that take no settings with the connection. */
  readonly perTransaction: string
  /** SQL that tells whether the settings are in force. */
  readonly hasSettings: string
}

export const DEFAULT_SCHEMA = "meanwhile"

const STATEMENT_TIMEOUT_MS = 30_000
/** How long a transaction that nobody goes on with holds its locks. */
const IDLE_IN_TRANSACTION_MS = 5_000
/** How much longer than the server's own limit this side waits before it takes the server for dead. */
const ANSWER_GRACE_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_AFTER_MS = 10_000

/**
 * Planner features to turn off. Rows are found by their keys and along indexes. A plan made for a small table would
 * read all of it and be kept when the table has grown, so such plans are used only if there is no other. And compiling
 * a short statement takes longer than running it.
 */
const PLANNING = ["enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"]

export function toClientSettings(options: ConnectionOptions): ClientSettings {
  const { url, schema = DEFAULT_SCHEMA, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
  if (!/^[a-z_][a-z0-9_]{0,43}$/.test(schema))
    throw invalid(`"${schema}" cannot be the schema of a store. Use up to 44 small letters, digits and underscores.`)
  const { host, port, user, database, password, ssl } = parseUrl(url)
  if (!user) throw invalid(NO_USER)
  const settings: readonly (readonly [string, string | number])[] = [
    ["search_path", schema],
    ["statement_timeout", statementTimeoutMs],
    ["idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_MS],
    ...PLANNING.map((name) => [name, "off"] as const),
  ]
  const client: pg.ClientConfig = {
    host,
    port,
    user,
    ...(database === undefined ? {} : { database }),
    // A function, so that a connection or a pool that is printed does not show the password.
    ...(typeof password === "string" ? { password: () => password } : {}),
    ssl,
    application_name: "meanwhile",
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + ANSWER_GRACE_MS }),
    pipeline: true,
    options: settings.map(([name, value]) => `-c ${name}=${value}`).join(" "),
    types: createTypes(),
  }
  return {
    client,
    schema,
    server: `${host}:${port}/${database ?? ""}`,
    role: user,
    perTransaction: settings.map(([name, value]) => `SET LOCAL ${name} TO ${value}`).join("; "),
    hasSettings: settings.map(toCondition).join(" AND "),
  }
}

/** Compares times as intervals, because the server shows them in the largest unit that fits. */
function toCondition([name, value]: readonly [string, string | number]): string {
  const found = `current_setting('${name}')`
  return typeof value === "number" ? `${found}::interval = '${value} ms'::interval` : `${found} = '${value}'`
}

/** The configuration without the settings of the session, for servers that do not take them. */
export function withoutSessionSettings(client: pg.ClientConfig): pg.ClientConfig {
  const { options: _, ...rest } = client
  return rest
}

function invalid(text: string): MeanwhileError {
  return new MeanwhileError("invalid_input", text)
}

const NO_USER =
  "The URL of the store names no user, and neither does the environment (PGUSER, USER). Write postgres://user@host/database."

const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"]

/**
 * Reads the URL through an unconnected client, as pg reads it, certificates included. Errors of pg may show the URL, so
 * they are not passed on.
 */
function parseUrl(url: string): pg.Client {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw invalid("A store on PostgreSQL has a URL like postgres://user@host/database.")
  if (hasUnknownParameter(url))
    throw invalid(
      "The URL of the store has a parameter that is not known. For TLS there are sslmode, sslrootcert, sslcert and sslkey, for fewer connections pool_size; leave out what PostgreSQL does not have.",
    )
  readPoolSize(url)
  const mode = URL.parse(url)?.searchParams.get("sslmode") ?? "disable"
  if (!SSL_MODES.includes(mode))
    throw invalid(
      `The sslmode in the URL of the store is not known. There are ${SSL_MODES.join(", ")}; verify-full is what you want, with sslrootcert=/path/to/ca.pem where the authority is your own.`,
    )
  if (isCutShort(url)) throw invalid(UNREADABLE)
  try {
    return new pg.Client({ connectionString: withPlainMode(url) })
  } catch (error) {
    throw invalid(describeUrlProblem(error))
  }
}

/** True if a slash or a hash in the password ends the host. The rest would be shown as the name of the database. */
function isCutShort(url: string): boolean {
  const { username, pathname, hash } = URL.parse(url) ?? {}
  return username === "" && `${pathname}${hash}`.includes("@")
}

const UNREADABLE =
  "The URL of the store cannot be read. Write postgres://user:password@host:port/database, with special characters of the password as %-codes."

function describeUrlProblem(error: unknown): string {
  if (error instanceof Error && "path" in error && "code" in error)
    return `The URL of the store names the file ${String(error.path)}, which cannot be read (${String(error.code)}). Correct its sslrootcert, sslcert or sslkey.`
  return UNREADABLE
}

/** PostgreSQL's number of the type `uuid[]`. */
const UUIDS = 2951

/**
 * Reads numbers as numbers: times are milliseconds and counts are small, so all fit. Leaves lists of ids as text,
 * because nobody reads the ids of removed tickets that pg-boss returns. Only for our own connections.
 */
function createTypes(): pg.CustomTypesConfig {
  const { INT8, FLOAT8, NUMERIC } = pg.types.builtins
  const types = new pg.TypeOverrides()
  for (const type of [INT8, FLOAT8, NUMERIC]) types.setTypeParser(type, Number)
  types.setTypeParser(UUIDS, String)
  return types
}

/** The parameters that clients of PostgreSQL accept in a URL, used here or not. */
const PARAMETERS: ReadonlySet<string> = new Set(
  `host hostaddr port dbname user password passfile service options replication application_name
    fallback_application_name client_encoding encoding connect_timeout keepalives keepalives_idle
    keepalives_interval keepalives_count tcp_user_timeout ssl sslmode sslrootcert sslcert sslkey sslpassword
    sslcrl sslcrldir sslsni sslcompression sslnegotiation ssl_min_protocol_version ssl_max_protocol_version
    requiressl min_protocol_version max_protocol_version channel_binding require_auth uselibpqcompat gssencmode
    gsslib gssdelegation krbsrvname target_session_attrs load_balance_hosts`.split(/\s+/),
)

/** True if the URL has an unknown parameter. A misspelt one that was to ask for TLS must not pass. */
function hasUnknownParameter(url: string): boolean {
  const { searchParams } = URL.parse(url) ?? {}
  return [...(searchParams?.keys() ?? [])].some((name) => !PARAMETERS.has(name) && name !== POOL_SIZE_PARAMETER)
}

/** Replaces three modes by `verify-full`, which is what pg makes of them anyway, with a page of warnings. */
function withPlainMode(url: string): string {
  if (URL.parse(url)?.searchParams.get("uselibpqcompat") === "true") return url
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full")
}

/** The parameter of a URL that says how many connections there are at most, beside the one that listens. */
const POOL_SIZE_PARAMETER = "pool_size"

export const DEFAULT_POOL_SIZE = 10
/**
 * One for writers, one for those that are held up, one for a take, and one for everything else. Without the last, reads
 * and new queues would wait, and so would a take, which looks at other rows while its transaction is open.
 */
export const SMALLEST_POOL_SIZE = 4
/** No process needs more, and every connection is work for the server. */
const LARGEST_POOL_SIZE = 100

/** Undefined if the URL does not say it. */
export function readPoolSize(url: string): number | undefined {
  const text = URL.parse(url)?.searchParams.get(POOL_SIZE_PARAMETER) ?? undefined
  if (text === undefined) return undefined
  const size = Number(text)
  if (/^\d+$/.test(text) && size >= SMALLEST_POOL_SIZE && size <= LARGEST_POOL_SIZE) return size
  const range = `${SMALLEST_POOL_SIZE} to ${LARGEST_POOL_SIZE}`
  const message = `The ${POOL_SIZE_PARAMETER} in the URL of the store must be a whole number from ${range}: how many connections each program may have at once, beside the one that listens.`
  throw invalid(message)
}
