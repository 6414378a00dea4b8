import { toShellWord } from "../../../base/shell-word.ts"

/**
 * The parts of a URL that say where the server is and how to speak to it. Files with keys belong to one role, and are
 * left out.
 */
const KEPT_PARAMETERS = ["host", "port", "sslmode", "sslrootcert"]
const UNKNOWN_OWNER = "OWNER"

/**
 * SQL for the role that may change the tables of a store: the owner of the schema. If there is no schema, or the asking
 * role owns it and still may not, it is the owner of the database.
 */
export function toOwnerColumn(schema: string): string {
  return `coalesce(
    nullif((SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = '${schema}'), current_user),
    (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database())) AS owner`
}

/**
 * The command by which the owner of a store migrates it and lets a role use it. Never contains a password, which each
 * role gets from a place of its own.
 */
export function toOwnerCommand(url: string, owner: string | null, grantTo: string | null): string {
  const grant = grantTo === null ? [] : ["--grant", toShellWord(grantTo)]
  return ["meanwhile migrate --engine", toShellWord(toOwnerUrl(url, owner)), ...grant].join(" ")
}

function toOwnerUrl(url: string, owner: string | null): string {
  const user = owner === null ? UNKNOWN_OWNER : encodeURIComponent(owner)
  const { host, pathname, searchParams } = URL.parse(url) ?? {}
  const kept = new URLSearchParams([...(searchParams ?? [])].filter(([name]) => KEPT_PARAMETERS.includes(name)))
  const query = kept.size === 0 ? "" : `?${kept.toString().replaceAll("%2F", "/")}`
  return `postgres://${user}@${host ?? "host"}${pathname ?? "/database"}${query}`
}
