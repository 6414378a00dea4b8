import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import { createWeb, page, serve } from "../../../test/support/builtin/web.ts"

describe("what a page becomes", () => {
  it("is readable text with its title and short links, framed as data of its address", async () => {
    const { host, url } = await serve(
      page(
        `<title>Tom &amp; Co</title><script>evil()</script><style>p{}</style><h1>Head</h1><p>One <a href="/two?x=1">two</a></p>` +
          `<a href="javascript:evil()">run</a><a href="/three?${"q".repeat(300)}">three</a><img src="x.png">`,
      ),
    )
    const { text = "" } = await createWeb({ allowPrivateHosts: [host] }).fetch({ url })
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
    const { text = "" } = await createWeb({ allowPrivateHosts: [host] }).fetch({ url })
    expect(text).toMatch(/kept\s+also/)
    expect(text).not.toContain("evil")
  })

  it("is left as it is for JSON and plain text", async () => {
    for (const [type, body] of [
      ["application/json", '{"a": "<b>"}'],
      ["application/problem+json", "{}"],
      ["text/plain", "a <b> c"],
    ]) {
      const { host, url } = await serve(page(body ?? "", type))
      expect((await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain(`---\n${body}\n---`)
    }
  })

  it("is refused with its type when it is neither", async () => {
    const { host, url } = await serve(page(new Uint8Array([0, 1]), "image/png"))
    expect(await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).toMatchObject({
      code: "unsupported_type",
      message: `${url} is image/png, and only HTML, JSON and text can be read.`,
    })
  })

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("is unpacked from %s", async (encoding, pack) => {
    const { host, url } = await serve(page(pack("packed words"), "text/plain", { "content-encoding": encoding }))
    expect((await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("\npacked words\n")
  })

  it.each([
    ["text/plain; charset=ISO-8859-1", Buffer.from("caf\u00e9", "latin1")],
    ["text/html", Buffer.from('<meta charset="windows-1252"><p>caf\u00e9', "latin1")],
    ["text/plain", Buffer.from("\ufeffcaf\u00e9", "utf16le")],
    ["text/plain; charset=nonsense", Buffer.from("caf\u00e9")],
  ])("is decoded as %s says", async (type, body) => {
    const { host, url } = await serve(page(body, type))
    expect((await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("\ncaf\u00e9\n")
  })

  it("comes in pieces when it is long", async () => {
    const { host, url } = await serve(page("0123456789", "text/plain"))
    const { fetch } = createWeb({ allowPrivateHosts: [host] })
    const first = await fetch({ url, max_characters: 4 })
    expect(first.text).toContain("\n0123\n")
    expect(first.text).toContain("again with offset 4.")
    const last = await fetch({ url, max_characters: 40, offset: 4 })
    expect(last.text).toContain("\n456789\n")
    expect(last.text).not.toContain("again")
    expect((await fetch({ url, offset: 400 })).text).toContain("of 10")
  })

  it("takes bounded time for HTML made to break its reader, while other work goes on", async () => {
    const { host, url } = await serve(page(`<p>first${"<div>".repeat(400_000)}deep<script>evil()`))
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(timer))
    const { text } = await createWeb({ allowPrivateHosts: [host] }).fetch({ url })
    expect(text).toContain("\nfirst")
    expect(text).not.toContain("evil")
    expect(turns).toBeGreaterThan(10)
  })
})

describe("how much is read", () => {
  it("is cut at the cap, packed or not, and the answer says so", async () => {
    const huge = Buffer.alloc(300_000, "x")
    for (const more of [{}, { "content-encoding": "gzip" }]) {
      const { host, url } = await serve(page("content-encoding" in more ? gzipSync(huge) : huge, "text/plain", more))
      const { fetch, reports } = createWeb({ allowPrivateHosts: [host], maxBytes: 1000 })
      const { text } = await fetch({ url })
      expect(text).toContain("characters 0 to 1000 of 1000")
      expect(text).toContain("longer than 1000 bytes")
      expect(reports.at(-1)).toMatchObject({ done: 1000 })
    }
  })

  it("is bounded even for an endless page", async () => {
    const { host, url } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" })
      const timer = setInterval(() => response.write("x".repeat(1000)), 1)
      response.on("close", () => clearInterval(timer))
    })
    expect((await createWeb({ allowPrivateHosts: [host], maxBytes: 5_000 }).fetch({ url })).text).toContain(
      "longer than",
    )
  })
})
