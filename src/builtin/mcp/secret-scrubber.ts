import type { ServerTransport } from "./mcp-config.ts"

const SHORTEST_SECRET = 6

export type Scrub = (text: string) => string

/** Removes the secrets that the configuration hands a server from texts that people and models see. */
export function createSecretScrubber(transport: ServerTransport): Scrub {
  const values = transport.kind === "stdio" ? Object.values(transport.env) : toWebSecrets(transport)
  const secrets = values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= SHORTEST_SECRET)
    .toSorted((one, other) => other.length - one.length)
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, "[secret]"), text)
}

function toWebSecrets({ url, headers }: Exclude<ServerTransport, { kind: "stdio" }>): string[] {
  const { username, password, searchParams } = new URL(url)
  return [...Object.values(headers), username, password, ...searchParams.values()]
}
