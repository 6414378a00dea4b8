import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from "node:http"
import { request as requestSecure } from "node:https"
import type { LookupFunction } from "node:net"
import { type Readable, pipeline } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { toErrorMessage } from "../../base/error.ts"
import type { HostAddress } from "./address-guard.ts"
import { FetchError } from "./fetch-error.ts"

export interface ExchangeOptions {
  /** The connection is made to one of these, even if the host name resolves to others by then. */
  readonly addresses: readonly HostAddress[]
  readonly userAgent: string
  /** Bytes of the decompressed body. */
  readonly maxBytes: number
  /** A connection without a byte for so long is given up. */
  readonly idleTimeoutMs: number
  readonly signal: AbortSignal
  readonly onBytes: (done: number, total: number | null) => void
}

export interface Exchange {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Empty for a redirect and for an error. */
  readonly body: Uint8Array
  /** True if there is more than `maxBytes`. */
  readonly isCut: boolean
}

/** One request and its answer. */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Exchange> {
  try {
    const response = await open(url, options)
    const { statusCode: status = 0, headers } = response
    if (status < 200 || status > 299) {
      response.destroy()
      return { status, headers, body: new Uint8Array(), isCut: false }
    }
    return { status, headers, ...(await readBody(response, options)) }
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof FetchError) throw error
    const message = `The connection to ${url.host} failed: ${toErrorMessage(error)}.`
    throw new FetchError("connection_failed", message, { isRetryable: true, cause: error })
  }
}

function open(url: URL, { addresses, userAgent, idleTimeoutMs, signal }: ExchangeOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const send = url.protocol === "https:" ? requestSecure : requestPlain
  const request = send(url, {
    agent: false,
    lookup: toPinnedLookup(addresses),
    signal,
    timeout: idleTimeoutMs,
    headers: {
      "user-agent": userAgent,
      accept: "text/html, application/json, text/*;q=0.9, */*;q=0.5",
      "accept-encoding": "gzip, deflate, br",
    },
  })
  let response: IncomingMessage | undefined
  request.on("timeout", () => {
    const message = `${url.host} sent nothing for ${idleTimeoutMs / 1000} s.`
    ;(response ?? request).destroy(new FetchError("too_slow", message, { isRetryable: true }))
  })
  request.on("error", reject)
  request.on("response", (answer) => {
    response = answer
    resolve(answer)
  })
  request.end()
  return promise
}

function toPinnedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else if (first) callback(null, first.address, first.family)
    else callback(new Error("there is no address"), "", 4)
  }
}

async function readBody(
  response: IncomingMessage,
  { maxBytes, onBytes }: ExchangeOptions,
): Promise<Pick<Exchange, "body" | "isCut">> {
  const length = Number(response.headers["content-length"])
  const total = Number.isSafeInteger(length) && !response.headers["content-encoding"] ? length : null
  const chunks: Uint8Array[] = []
  let done = 0
  for await (const chunk of decompress(response)) {
    const bytes = chunk as Uint8Array
    chunks.push(bytes.subarray(0, maxBytes - done))
    done += bytes.length
    onBytes(Math.min(done, maxBytes), total)
    if (done > maxBytes) break
  }
  response.destroy()
  return { body: Buffer.concat(chunks), isCut: done > maxBytes }
}

function decompress(response: IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
  if (encoding === "identity" || encoding === "") return response
  const decoder = DECODERS[encoding]?.()
  if (!decoder) {
    response.destroy()
    const message = `The body is packed as "${encoding.slice(0, 40)}", which cannot be unpacked.`
    throw new FetchError("unreadable_body", message)
  }
  // Errors of either side surface while the decoder is read.
  return pipeline(response, decoder, () => undefined)
}

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}
