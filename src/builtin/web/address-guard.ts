import { isIP } from "node:net"
import { systemCodeOf } from "../../base/system-error.ts"
import { FetchError } from "./fetch-error.ts"
import { isPrivateAddress } from "./private-address.ts"

export interface HostAddress {
  readonly address: string
  readonly family: number
}

/** Asks the network for the addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>

/** Contract: the addresses a connection may be made to, and no others. Refused when there are none. */
export type AddressGuard = (url: URL) => Promise<readonly HostAddress[]>

export interface AddressGuardOptions {
  /** `host` or `host:port`, as in a URL, whose private addresses may be reached. */
  readonly allowPrivateHosts: readonly string[]
  readonly resolveHost?: ResolveHost
}

const resolveByNetwork: ResolveHost = async (hostname) => {
  const { lookup } = await import("node:dns/promises")
  return lookup(hostname, { all: true })
}

export function createAddressGuard({
  allowPrivateHosts,
  resolveHost = resolveByNetwork,
}: AddressGuardOptions): AddressGuard {
  const allowed = new Set(allowPrivateHosts.map((host) => host.toLowerCase()))

  return async (url) => {
    const hostname = url.hostname.replace(/^\[|\]$/g, "")
    const family = isIP(hostname)
    const found = family > 0 ? [{ address: hostname, family }] : await resolve(resolveHost, hostname)
    if (allowed.has(url.hostname) || allowed.has(url.host)) return found
    const reachable = found.filter(({ address }) => !isPrivateAddress(address))
    if (reachable.length > 0) return reachable
    throw new FetchError(
      "address_refused",
      `${url.host} is a private address and is not fetched. The person can allow it with allowPrivateHosts.`,
    )
  }
}

async function resolve(resolveHost: ResolveHost, hostname: string): Promise<readonly HostAddress[]> {
  const found = await resolveHost(hostname).catch((error: unknown) => {
    const isRetryable = systemCodeOf(error) === "EAI_AGAIN"
    throw new FetchError("host_unknown", `There is no address for ${hostname}.`, { isRetryable, cause: error })
  })
  if (found.length === 0) throw new FetchError("host_unknown", `There is no address for ${hostname}.`)
  return found
}
