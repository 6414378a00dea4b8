import { type Clock, systemClock } from "../../base/clock.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { createAddressGuard, type ResolveHost } from "./address-guard.ts"
import { createFetchUrl } from "./fetch-url.ts"

export interface WebPluginOptions {
  /** `host` or `host:port` whose private addresses may be fetched. Default: none. */
  readonly allowPrivateHosts?: readonly string[]
  /** Largest page, decompressed. Default 5 MiB. */
  readonly maxBytes?: number
  /** A connection without a byte for so long is given up. Default 30 s. */
  readonly idleTimeoutMs?: number
  /** Time limit of a call with all its retries and redirects. Default 2 min. */
  readonly totalTimeoutMs?: number
  /** How long to wait before each further try. Default 0.5 and 2 s. */
  readonly retryDelaysMs?: readonly number[]
  readonly userAgent?: string
  readonly resolveHost?: ResolveHost
  readonly clock?: Clock
}

const DEFAULT_USER_AGENT = "Meanwhile (agent; fetch_url)"

/** Reads pages of the web. */
export function createWebPlugin(options: WebPluginOptions = {}): ToolPlugin {
  const { allowPrivateHosts = [], resolveHost } = options
  const guard = createAddressGuard({ allowPrivateHosts, ...(resolveHost && { resolveHost }) })
  return defineBuiltin({
    kind: "tool",
    name: "web",
    tools: [
      createFetchUrl({
        guard,
        clock: options.clock ?? systemClock,
        maxBytes: options.maxBytes ?? 5 * 1024 * 1024,
        idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
        totalTimeoutMs: options.totalTimeoutMs ?? 120_000,
        retryDelaysMs: options.retryDelaysMs ?? [500, 2_000],
        userAgent: options.userAgent ?? DEFAULT_USER_AGENT,
      }),
    ],
  })
}
