import { MeanwhileError, type ErrorCode, toErrorMessage } from "../../../base/error.ts"
import { systemCodeOf } from "../../../base/system-error.ts"

/**
 * The reaction to an error of the server or of the connection. `lost`: the connection is gone, try on another one.
 * `unwritable`: the server takes no writes for now, try again later.
 * `conflict`: somebody else was faster, try again. `refused`: trying again does not help.
 */
export interface Trouble {
  readonly kind: "lost" | "unwritable" | "conflict" | "refused"
  readonly code: ErrorCode
  readonly text: string
}

/** The name of a store for people. It contains nothing secret. */
export interface StoreName {
  /** Host, port and database. */
  readonly server: string
  /** The role that connects. */
  readonly role: string
  /** The command by which the owner migrates the store and, if a role is named, lets that role use it. */
  toOwnerCommand(grantTo: string | null): string
}

const LOST: Trouble = {
  kind: "lost",
  code: "store_unavailable",
  text: "cannot be reached. Check that PostgreSQL runs there and that this machine may connect to it.",
}

const refused = (code: ErrorCode, text: string): Trouble => ({ kind: "refused", code, text })
const conflict = (code: ErrorCode, text: string): Trouble => ({ kind: "conflict", code, text })

/** Names no command-line flag: a password there would be in the list of processes. */
const PASSWORD = "A password comes from MEANWHILE_ENGINE, PGPASSWORD, ~/.pgpass or the configuration."
const NO_LOGIN = refused("store_unavailable", `refuses the user or the password. Check both. ${PASSWORD}`)
const NO_PASSWORD = refused("store_unavailable", `asks for a password, and none was given. ${PASSWORD}`)
const NO_TABLES = refused("store_unavailable", "lacks tables of this version.")
const DISK_FULL: Trouble = {
  kind: "unwritable",
  code: "disk_full",
  text: "cannot grow: its disk is full. Free some space; nothing of this was stored.",
}
const NO_RIGHT = refused("store_read_only", "does not let this role do that.")
const DAMAGED = refused("store_damaged", "is damaged. It was left as it is; restore a backup.")
const TOO_SLOW = refused("store_unavailable", "did not answer in time. See what else it is doing, and try again.")
const HELD = refused(
  "store_unavailable",
  "has the rows that this changes locked by another program, which makes no progress. Find it in pg_stat_activity, then try again.",
)
const CERTIFICATE = refused(
  "store_unavailable",
  "shows a certificate that cannot be trusted. Name its authority: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem",
)
const NO_TLS = refused(
  "store_unavailable",
  "cannot be spoken to by TLS. Check the files that sslrootcert, sslcert and sslkey name, and what the server offers.",
)
const NO_CONNECTION_LEFT =
  "has no connection left. Raise its max_connections, or let each program have fewer: ?pool_size=4 in its URL."
const STALE_PLAN = conflict("store_unavailable", "was changed under a statement. Try again.")

/** By SQLSTATE, the whole code or its beginning: the longest match decides. */
const BY_STATE: ReadonlyMap<string, Trouble> = new Map([
  ["08", LOST],
  ["0A000", STALE_PLAN],
  ["22", refused("invalid_input", "cannot hold such a value.")],
  ["23", refused("invalid_input", "cannot hold such a record.")],
  ["23505", conflict("invalid_input", "has such a record already.")],
  // After a failover the next connection leads to the new primary.
  ["25006", { kind: "lost", code: "store_read_only", text: "is read-only. Connect to the primary server." }],
  ["25P03", LOST],
  ["26000", STALE_PLAN],
  ["28", NO_LOGIN],
  ["3D000", refused("store_unavailable", "is a database that does not exist. Create it, or correct the URL.")],
  ["3F000", NO_TABLES],
  ["40", conflict("store_unavailable", "could not decide between two writers. Try again.")],
  ["42501", NO_RIGHT],
  ["42703", NO_TABLES],
  ["42P01", NO_TABLES],
  ["42P05", STALE_PLAN],
  ["53100", DISK_FULL],
  ["53300", { ...LOST, text: NO_CONNECTION_LEFT }],
  ["54", refused("invalid_input", "cannot hold a value of such a size.")],
  ["55P03", HELD],
  ["57014", TOO_SLOW],
  ["57P", LOST],
  ["58", refused("store_unavailable", "could not read or write its files. Check its disk.")],
  ["XX001", DAMAGED],
  ["XX002", DAMAGED],
])

const LOST_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
])

/** Messages of errors of pg that have no code. */
const LOST_TEXTS = /^(Connection terminated|Client (has encountered|was closed)|Query read timeout|timeout )/
const NO_PASSWORD_TEXT = /^SASL: .*password must be a (non-empty )?string/
const CERTIFICATE_CODES = /CERT|SIGNATURE/

/**
 * A server that let us in before refuses us now. Whatever it says, it may let us in again: it is being set up, or taken
 * over.
 */
export class TurnedAway extends Error {
  constructor(cause: unknown) {
    super(toErrorMessage(cause), { cause })
  }
}

/** Undefined: not an error of the server or of the way to it, but a refusal or a mistake of ours. */
export function toTrouble(error: unknown): Trouble | undefined {
  if (!(error instanceof Error) || error instanceof MeanwhileError) return undefined
  if (error instanceof TurnedAway) return { ...(toTrouble(error.cause) ?? LOST), kind: "lost" }
  const code = systemCodeOf(error) ?? ""
  if (LOST_CODES.has(code) || LOST_TEXTS.test(error.message)) return LOST
  if (NO_PASSWORD_TEXT.test(error.message)) return NO_PASSWORD
  if (error.message.includes("does not support SSL"))
    return refused("store_unavailable", "does not speak TLS. Turn it on there, or take sslmode out of the URL.")
  if (/^[0-9A-Z]{5}$/.test(code))
    return BY_STATE.get(code) ?? BY_STATE.get(code.slice(0, 3)) ?? BY_STATE.get(code.slice(0, 2)) ?? UNKNOWN
  if (CERTIFICATE_CODES.test(code)) return CERTIFICATE
  return /^ERR_(OSSL|SSL|TLS)/.test(code) ? NO_TLS : undefined
}

const UNKNOWN = refused("store_unavailable", "refused the request.")

/** True if a pooler refuses the settings of the session, as one does that hands out connections by transaction. */
export function isSettingRefused(error: unknown): boolean {
  return systemCodeOf(error) === "08P01" && toErrorMessage(error).includes("startup param")
}

/** Turns every error of the server into a refusal. Any other error stays what it is. */
export function toStoreError(error: unknown, name: StoreName): unknown {
  const { server } = name
  const trouble = toTrouble(error)
  if (!trouble) return error
  // For a missing password, pg names only the step of the login.
  const said = trouble === NO_PASSWORD ? "" : ` (${toErrorMessage(error) || "no answer"})`
  const message = `The store at ${server} ${trouble.text}${toFix(trouble, name)}${said}`
  return new MeanwhileError(trouble.code, message, { server }, { cause: error })
}

/** The command for troubles that only the owner of the store can end; else empty. */
function toFix(trouble: Trouble, { role, toOwnerCommand }: StoreName): string {
  if (trouble !== NO_RIGHT && trouble !== NO_TABLES) return ""
  return ` Run \`${toOwnerCommand(trouble === NO_RIGHT ? role : null)}\` as the role that owns the store.`
}

const LOCK_NOT_AVAILABLE = "55P03"

/** True if a transaction was rolled back because another one held a wanted row for longer than the lock timeout. */
export function isHeldUp(error: unknown): boolean {
  return error instanceof Error && systemCodeOf(error.cause) === LOCK_NOT_AVAILABLE
}

/** True if the server refused a transaction for a reason that is not told apart here, and may lie in one of its values. */
export function isUnexplained(error: unknown): boolean {
  return error instanceof Error && toTrouble(error.cause) === UNKNOWN
}
