import { MeanwhileError } from "../base/error.ts"

/** The variable that names the store; a configuration says `engine`. */
export const ENGINE_VARIABLE = "MEANWHILE_ENGINE"

const EXAMPLE = "postgres://user@host:port/database"

/**
 * The reason why a text is no URL of a store; undefined if it is one. It never quotes the text, which may hold a
 * password.
 */
export function findUrlProblem(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return `must be a URL like ${EXAMPLE}`
  const url = URL.parse(text)
  // An @ behind the host is the rest of a password that was written without %-codes.
  if (!url || `${url.pathname}${url.search}${url.hash}`.includes("@"))
    return `cannot be read. Write ${EXAMPLE}, with special characters of user, password and database as %-codes`
  if (url.pathname.length > 1) return undefined
  // PostgreSQL would take the user's name as that of the database, and it differs between those who share a store.
  return `names no database. Write its name behind the host: ${EXAMPLE}`
}

/** The URL as people may read it: user, host, port and database. */
export function toShownUrl(text: string): string {
  const url = findUrlProblem(text) === undefined ? URL.parse(text) : null
  if (!url) return "postgres://…"
  return `${url.protocol}//${url.username === "" ? "" : `${url.username}@`}${url.host}${url.pathname}`
}

/** Refuses a URL with a secret: everybody on a machine can read the arguments of its processes. */
export function checkEngineFlag(text: string): void {
  const found = findUrlProblem(text)
  if (found !== undefined) throw new MeanwhileError("invalid_input", `The value of --engine ${found}.`)
  if (!hasSecret(text)) return
  throw new MeanwhileError(
    "invalid_input",
    `--engine has a secret in it, which everybody on this machine could read in the list of processes. Give --engine ${toShownUrl(text)} and the password in PGPASSWORD or ~/.pgpass, or the whole URL in ${ENGINE_VARIABLE} or as \`engine\` in the configuration. Change what was shown if others use this machine.`,
  )
}

/**
 * Parameters with secrets, by parts of their names, in any case. A misspelt parameter, or one for other clients, is in the
 * list of processes too. The name of a file that holds a secret (`passfile`, `sslkey`) is no secret.
 */
const SECRETS = /pass(?!file$)|pwd|secret|token|_key$/i

function hasSecret(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.password !== "" || [...url.searchParams.keys()].some((name) => SECRETS.test(name)))
}
