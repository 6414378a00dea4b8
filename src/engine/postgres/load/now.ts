/** The time of the server, in whole milliseconds. It goes on within a transaction. */
export const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
