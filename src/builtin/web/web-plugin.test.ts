import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import { systemClock } from "../../base/clock.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { ContentPart } from "../../plugin/message.ts"
import { createRegistry } from "../../plugin/registry.ts"
import { contentOf } from "../../plugin/tool-content.ts"
import type { Progress } from "../../task/progress.ts"
import { createAddressGuard } from "./address-guard.ts"
import { createWebPlugin, type WebPluginOptions } from "./web-plugin.ts"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function serve(
  handler: Handler,
): Promise<{ readonly host: string; readonly url: string; readonly port: number }> {
  const server = createServer(handler)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", resolve)
  await promise
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/`, port }
}

const page =
  (body: string | Uint8Array, type = "text/html; charset=utf-8", more: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(200, { "content-type": type, ...more }).end(body)

interface Returned {
  readonly text?: string
  readonly code?: string
  readonly message?: string
}

function create(options: WebPluginOptions = {}) {
  const [tool] = createWebPlugin({ retryDelaysMs: [1, 1], ...options }).tools
  if (!tool) throw new Error("the plugin has no tool")
  const controller = new AbortController()
  const reports: Partial<Progress>[] = []
  const context = { signal: controller.signal, progress: (update: Partial<Progress>) => reports.push(update) }
  const fetch = async (input: object): Promise<Returned> => {
    const returned = (await tool.run(tool.input.parse(input), context as unknown as ToolContext)) as {
      readonly patch?: { readonly payload: Parameters<typeof contentOf>[0] }
      readonly failure?: { readonly code: string; readonly message: string }
    }
    if (returned.failure) return returned.failure
    const [part] = contentOf(returned.patch?.payload ?? null) as readonly ContentPart[]
    return { text: part?.type === "text" ? part.text : "" }
  }
  return { tool, fetch, reports, controller }
}

describe("what a page becomes", () => {
  it("is readable text with its title and short links, framed as data of its address", async () => {
    const { host, url } = await serve(
      page(
        `<title>Tom &amp; Co</title><script>evil()</script><style>p{}</style><h1>Head</h1><p>One <a href="/two?x=1">two</a></p>` +
          `<a href="javascript:evil()">run</a><a href="/three?${"q".repeat(300)}">three</a><img src="x.png">`,
      ),
    )
    const { text = "" } = await create({ allowPrivateHosts: [host] }).fetch({ url })
    const [, mark] = /lines with (\w{12}) comes/.exec(text) ?? []
    expect(text).toContain(`Text of ${url} (text/html)`)
    expect(text).toContain(`--- begin ${mark} ---\nTitle: Tom & Co\n\nHead`)
    expect(text).toContain(`One two [http://${host}/two?x=1]`)
    expect(text).toContain(`three [http://${host}/three]`)
    expect(text).not.toMatch(/evil|p\{\}|x\.png/)
    expect(text.endsWith(`--- end ${mark} ---`)).toBe(true)
  })

  it("loses no word behind a script when letters of the page grow in lower case", async () => {
    const { host, url } = await serve(page(`<p>${"İ".repeat(40)}</p><SCRIPT>evil()</Script><p>kept</p><b>also</b>`))
    const { text = "" } = await create({ allowPrivateHosts: [host] }).fetch({ url })
    expect(text).toMatch(/kept\s+also/)
    expect(text).not.toContain("evil")
  })

  it("is what it is for JSON and plain text", async () => {
    for (const [type, body] of [
      ["application/json", '{"a": "<b>"}'],
      ["application/problem+json", "{}"],
      ["text/plain", "a <b> c"],
    ]) {
      const { host, url } = await serve(page(body ?? "", type))
      expect((await create({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain(`---\n${body}\n---`)
    }
  })

  it("is refused with its type when it is neither", async () => {
    const { host, url } = await serve(page(new Uint8Array([0, 1]), "image/png"))
    expect(await create({ allowPrivateHosts: [host] }).fetch({ url })).toMatchObject({
      code: "unsupported_type",
      message: `${url} is image/png, and only HTML, JSON and text can be read.`,
    })
  })

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("is unpacked from %s", async (encoding, pack) => {
    const { host, url } = await serve(page(pack("packed words"), "text/plain", { "content-encoding": encoding }))
    expect((await create({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("\npacked words\n")
  })

  it.each([
    ["text/plain; charset=ISO-8859-1", Buffer.from("caf\u00e9", "latin1")],
    ["text/html", Buffer.from('<meta charset="windows-1252"><p>caf\u00e9', "latin1")],
    ["text/plain", Buffer.from("\ufeffcaf\u00e9", "utf16le")],
    ["text/plain; charset=nonsense", Buffer.from("caf\u00e9")],
  ])("is decoded as %s says", async (type, body) => {
    const { host, url } = await serve(page(body, type))
    expect((await create({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("\ncaf\u00e9\n")
  })

  it("comes in pieces when it is long", async () => {
    const { host, url } = await serve(page("0123456789", "text/plain"))
    const { fetch } = create({ allowPrivateHosts: [host] })
    const first = await fetch({ url, max_characters: 4 })
    expect(first.text).toContain("\n0123\n")
    expect(first.text).toContain("again with offset 4.")
    const last = await fetch({ url, max_characters: 40, offset: 4 })
    expect(last.text).toContain("\n456789\n")
    expect(last.text).not.toContain("again")
    expect((await fetch({ url, offset: 400 })).text).toContain("of 10")
  })

  it("is had in bounded time from HTML made to break its reader, while other work goes on", async () => {
    const { host, url } = await serve(page(`<p>first${"<div>".repeat(400_000)}deep<script>evil()`))
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(timer))
    const { text } = await create({ allowPrivateHosts: [host] }).fetch({ url })
    expect(text).toContain("\nfirst")
    expect(text).not.toContain("evil")
    expect(turns).toBeGreaterThan(10)
  })
})

describe("how much is read", () => {
  it("is cut at the cap, packed or not, and said to be", async () => {
    const huge = Buffer.alloc(300_000, "x")
    for (const more of [{}, { "content-encoding": "gzip" }]) {
      const { host, url } = await serve(page("content-encoding" in more ? gzipSync(huge) : huge, "text/plain", more))
      const { fetch, reports } = create({ allowPrivateHosts: [host], maxBytes: 1000 })
      const { text } = await fetch({ url })
      expect(text).toContain("characters 0 to 1000 of 1000")
      expect(text).toContain("longer than 1000 bytes")
      expect(reports.at(-1)).toMatchObject({ done: 1000 })
    }
  })

  it("ends with an endless page", async () => {
    const { host, url } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" })
      const timer = setInterval(() => response.write("x".repeat(1000)), 1)
      response.on("close", () => clearInterval(timer))
    })
    expect((await create({ allowPrivateHosts: [host], maxBytes: 5_000 }).fetch({ url })).text).toContain("longer than")
  })
})

describe("a server in trouble", () => {
  it.each([429, 500, 503])("is tried again after status %s", async (status) => {
    let calls = 0
    const { host, url } = await serve((request, response) => {
      if (++calls < 3) response.writeHead(status).end()
      else page("at last", "text/plain")(request, response)
    })
    expect((await create({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("at last")
    expect(calls).toBe(3)
  })

  it("is left alone after so many tries, and at once for an answer that stays", async () => {
    let calls = 0
    const { host, url } = await serve((request, response) => {
      calls++
      response.writeHead(request.url === "/gone" ? 404 : 503).end()
    })
    const { fetch } = create({ allowPrivateHosts: [host] })
    expect(await fetch({ url })).toMatchObject({ code: "http_status", message: `${url} answered with status 503.` })
    expect(calls).toBe(3)
    expect(await fetch({ url: `${url}gone` })).toMatchObject({ message: expect.stringContaining("404") })
    expect(calls).toBe(4)
  })

  it("is given the time it asks for, unless that is too long", async () => {
    const delays: number[] = []
    const clock: typeof systemClock = {
      ...systemClock,
      schedule(delayMs, callback) {
        delays.push(delayMs)
        return systemClock.schedule(0, callback)
      },
    }
    const { host, url } = await serve((request, response) => {
      response.writeHead(429, { "retry-after": request.url === "/long" ? "3600" : "7" }).end()
    })
    const { fetch } = create({ allowPrivateHosts: [host], clock })
    await fetch({ url })
    expect(delays).toEqual([7_000, 7_000])
    expect(await fetch({ url: `${url}long` })).toMatchObject({
      message: expect.stringContaining("come back in 3600 s"),
    })
    expect(delays).toHaveLength(2)
  })

  it("is tried again after a lost connection", async () => {
    let calls = 0
    const { host, url } = await serve((request, response) => {
      if (++calls === 1) request.socket.destroy()
      else page("back", "text/plain")(request, response)
    })
    expect((await create({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("back")
  })

  it("is given up when it stops in the middle", async () => {
    const { host, url } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("half")
    })
    expect(
      await create({ allowPrivateHosts: [host], idleTimeoutMs: 50, retryDelaysMs: [] }).fetch({ url }),
    ).toMatchObject({ code: "too_slow", message: `${host} sent nothing for 0.05 s.` })
  })

  it("is left as soon as the call is stopped, however slowly it drips", async () => {
    const closed = Promise.withResolvers<void>()
    const { host, url } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" })
      const timer = setInterval(() => response.write("."), 5)
      response.on("close", () => {
        clearInterval(timer)
        closed.resolve()
      })
    })
    const { fetch, controller, reports } = create({ allowPrivateHosts: [host] })
    const fetched = fetch({ url })
    fetched.catch(() => undefined)
    await expect.poll(() => reports.length).toBeGreaterThan(2)
    controller.abort(new Error("enough"))
    await expect(fetched).rejects.toThrow("enough")
    await closed.promise
  })
})

describe("where it may go", () => {
  it.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://168.63.129.16/machine",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
  ])("refuses %s", async (url) => {
    const resolveHost = async () => [{ address: "127.0.0.1", family: 4 }]
    const { code, message } = await create({ resolveHost }).fetch({ url })
    expect(code).toBe("address_refused")
    expect(message).toContain("allowPrivateHosts")
  })

  it("follows redirects, and checks each of them", async () => {
    const target = await serve(page("arrived", "text/plain"))
    const { host, url } = await serve((request, response) => {
      const location = request.url === "/file" ? "file:///etc/passwd" : request.url === "/loop" ? "/loop" : target.url
      response.writeHead(302, { location }).end()
    })
    const both = create({ allowPrivateHosts: [host, target.host] })
    const arrived = await both.fetch({ url })
    expect(arrived.text).toContain("arrived")
    expect(arrived.text).toContain(`Text of ${target.url}`)
    expect(await create({ allowPrivateHosts: [host] }).fetch({ url })).toMatchObject({ code: "address_refused" })
    expect(await both.fetch({ url: `${url}file` })).toMatchObject({ code: "address_refused" })
    expect(await both.fetch({ url: `${url}loop` })).toMatchObject({ code: "too_many_redirects" })
  })

  it("connects to the address it checked: the name is looked up once, so it cannot mean another a moment later", async () => {
    const { port } = await serve(page("checked", "text/plain"))
    const answers = ["127.0.0.1", "127.0.0.2"]
    const asked: string[] = []
    const resolveHost = async (hostname: string) => {
      asked.push(hostname)
      return [{ address: answers.shift() ?? "", family: 4 }]
    }
    const { fetch } = create({ resolveHost, allowPrivateHosts: [`rebind.test:${port}`] })
    expect((await fetch({ url: `http://rebind.test:${port}/` })).text).toContain("checked")
    expect(asked).toEqual(["rebind.test"])
  })

  it("checks a name again when it tries again", async () => {
    let requests = 0
    const { port } = await serve((_request, response) => {
      requests++
      response.writeHead(503).end()
    })
    const answers = [[], [{ address: "127.0.0.1", family: 4 }]]
    const resolveHost = async () => {
      const answer = answers.shift() ?? []
      if (answer.length === 0) throw Object.assign(new Error("try again"), { code: "EAI_AGAIN" })
      return answer
    }
    expect(await create({ resolveHost }).fetch({ url: `http://rebind.test:${port}/` })).toMatchObject({
      code: "address_refused",
    })
    expect(requests).toBe(0)
  })

  it("leaves out the private ones among a name's addresses", async () => {
    const addresses = ["127.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"].map((address) => ({ address, family: 4 }))
    const guard = createAddressGuard({ allowPrivateHosts: [], resolveHost: async () => addresses })
    const reachable = await guard(new URL("http://mixed.test/"))
    expect(reachable.map(({ address }) => address)).toEqual(["8.8.8.8", "2606:4700::1111"])
  })

  it("says so when there is no such host", async () => {
    const resolveHost = () => Promise.reject(new Error("ENOTFOUND"))
    expect(await create({ resolveHost }).fetch({ url: "http://nowhere.test/" })).toEqual({
      code: "host_unknown",
      message: "There is no address for nowhere.test.",
    })
  })

  it.each(["ftp://example.com", "example.com", "file:///etc/passwd", "http://me:secret@example.com/"])(
    "takes no %s",
    (url) => {
      expect(create().tool.input.safeParse({ url }).success).toBe(false)
    },
  )
})

it("says who it is, has no effects and moves to the background after ten seconds", async () => {
  let agent = ""
  const { host, url } = await serve((request, response) => {
    agent = request.headers["user-agent"] ?? ""
    response.end()
  })
  const { fetch, tool } = create({ allowPrivateHosts: [host] })
  await fetch({ url })
  expect(agent).toContain("Meanwhile")
  expect(tool).toMatchObject({ effects: [], background: { mode: "after", ms: 10_000 } })
  const registry = createRegistry()
  await registry.register(createWebPlugin())
  expect(registry.findTool("fetch_url").plugin).toBe("web")
})
