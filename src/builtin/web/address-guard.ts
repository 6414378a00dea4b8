import { BlockList, isIP, isIPv6 } from "node:net"
import { systemCodeOf } from "../../base/system-error.ts"
import { FetchError } from "./fetch-error.ts"

export interface HostAddress {
  readonly address: string
  readonly family: number
}

/** Asks the network for the addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>

/** Contract: returns only addresses that a connection may be made to. Refused if there are none. */
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
    const message = `${url.host} is a private address and is not fetched. The person can allow it with allowPrivateHosts.`
    throw new FetchError("address_refused", message)
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

/** This host, its networks, its provider's (also metadata at 169.254.169.254, 168.63.129.16), and what is no host. */
const IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "168.63.129.16/32",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]
/** As `IPV4`, and every way to write an IPv4 address inside an IPv6 one. */
const IPV6 = [
  "::/96",
  "::ffff:0:0/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
]

const blocked4 = toBlockList(IPV4, "ipv4")
/** A list of its own: in a common one, a rule for `::ffff:0:0/96` would hold for every IPv4 address. */
const blocked6 = toBlockList(IPV6, "ipv6")

/** True for an IP address that is not public. */
function isPrivateAddress(address: string): boolean {
  const [withoutZone = ""] = address.split("%", 1)
  return isIPv6(withoutZone) ? blocked6.check(withoutZone, "ipv6") : blocked4.check(withoutZone, "ipv4")
}

function toBlockList(subnets: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [network = "", prefix = ""] = subnet.split("/")
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
