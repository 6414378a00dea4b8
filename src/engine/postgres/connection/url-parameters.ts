import { POOL_SIZE_PARAMETER } from "./pool-size.ts"

/** What clients of PostgreSQL take in a URL, whether it means something here or not. */
const PARAMETERS: ReadonlySet<string> = new Set(
  `host hostaddr port dbname user password passfile service options replication application_name
    fallback_application_name client_encoding encoding connect_timeout keepalives keepalives_idle
    keepalives_interval keepalives_count tcp_user_timeout ssl sslmode sslrootcert sslcert sslkey sslpassword
    sslcrl sslcrldir sslsni sslcompression sslnegotiation ssl_min_protocol_version ssl_max_protocol_version
    requiressl min_protocol_version max_protocol_version channel_binding require_auth uselibpqcompat gssencmode
    gsslib gssdelegation krbsrvname target_session_attrs load_balance_hosts`.split(/\s+/),
)

/** A slip of the pen in one that was to ask for TLS must not pass. */
export function hasUnknownParameter(url: string): boolean {
  const { searchParams } = URL.parse(url) ?? {}
  return [...(searchParams?.keys() ?? [])].some((name) => !PARAMETERS.has(name) && name !== POOL_SIZE_PARAMETER)
}

/** These three ask for what `verify-full` asks for; pg does the same, and prints a page about it. */
export function withPlainMode(url: string): string {
  if (URL.parse(url)?.searchParams.get("uselibpqcompat") === "true") return url
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full")
}
