import { toShellWord } from "../../../base/shell-word.ts"

/** Of a URL, what says where the server is and how it is spoken to. Files with keys are of one role, and left out. */
const KEPT_PARAMETERS = ["host", "port", "sslmode", "sslrootcert"]
const UNKNOWN_OWNER = "OWNER"

/** Who may change the tables of a store; where whoever asks owns the schema and still may not, who owns the database. */
export function toOwnerColumn(schema: string): string {
  return `coalesce(
    nullif((SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = '${schema}'), current_user),
    (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database())) AS owner`
}

/**
 * What the owner of a store types to bring it to this version, and to let a role use it. Never with a password: that comes
 * from where each role has its own.
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
