/**
 * The version of what a transaction writes: its number, as rows have it in `xmin`, and the start of the server. The numbers
 * are those of one server; another that takes its place may give them out again.
 */
export const VERSION = "pg_current_xact_id()::xid::text || ' ' || pg_postmaster_start_time()::text"

/** The version of a row that `writer` has written, seen by a transaction of the other version. */
export function toVersion(writer: string, seenBy: string): string {
  return writer + seenBy.slice(seenBy.indexOf(" "))
}
