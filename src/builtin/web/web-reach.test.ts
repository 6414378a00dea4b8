import { describe, expect, it } from "vitest"
import { createRegistry } from "../../plugin/registry.ts"
import { createAddressGuard } from "./address-guard.ts"
import { createWeb, page, serve } from "../../../test/support/builtin/web.ts"
import { createWebPlugin } from "./web-plugin.ts"
import { parse } from "../../plugin/schema.ts"

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
    const { code, message } = await createWeb({ resolveHost }).fetch({ url })
    expect(code).toBe("address_refused")
    expect(message).toContain("allowPrivateHosts")
  })

  it("follows redirects, and checks each of them", async () => {
    const target = await serve(page("arrived", "text/plain"))
    const { host, url } = await serve((request, response) => {
      const location = request.url === "/file" ? "file:///etc/passwd" : request.url === "/loop" ? "/loop" : target.url
      response.writeHead(302, { location }).end()
    })
    const both = createWeb({ allowPrivateHosts: [host, target.host] })
    const arrived = await both.fetch({ url })
    expect(arrived.text).toContain("arrived")
    expect(arrived.text).toContain(`Text of ${target.url}`)
    expect(await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).toMatchObject({ code: "address_refused" })
    expect(await both.fetch({ url: `${url}file` })).toMatchObject({ code: "address_refused" })
    expect(await both.fetch({ url: `${url}loop` })).toMatchObject({ code: "too_many_redirects" })
  })

  it("connects to the address it checked: the name is looked up only once, so it cannot change in between", async () => {
    const { port } = await serve(page("checked", "text/plain"))
    const answers = ["127.0.0.1", "127.0.0.2"]
    const asked: string[] = []
    const resolveHost = async (hostname: string) => {
      asked.push(hostname)
      return [{ address: answers.shift() ?? "", family: 4 }]
    }
    const { fetch } = createWeb({ resolveHost, allowPrivateHosts: [`rebind.test:${port}`] })
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
    expect(await createWeb({ resolveHost }).fetch({ url: `http://rebind.test:${port}/` })).toMatchObject({
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
    expect(await createWeb({ resolveHost }).fetch({ url: "http://nowhere.test/" })).toEqual({
      code: "host_unknown",
      message: "There is no address for nowhere.test.",
    })
  })

  it.each(["ftp://example.com", "example.com", "file:///etc/passwd", "http://me:secret@example.com/"])(
    "takes no %s",
    (url) => {
      expect(parse(createWeb().tool.input, { url }).success).toBe(false)
    },
  )
})

it("says who it is, has no effects and moves to the background after ten seconds", async () => {
  let agent = ""
  const { host, url } = await serve((request, response) => {
    agent = request.headers["user-agent"] ?? ""
    response.end()
  })
  const { fetch, tool } = createWeb({ allowPrivateHosts: [host] })
  await fetch({ url })
  expect(agent).toContain("Meanwhile")
  expect(tool).toMatchObject({ effects: [], background: { mode: "after", ms: 10_000 } })
  const registry = createRegistry()
  await registry.register(createWebPlugin())
  expect(registry.findTool("fetch_url").plugin).toBe("web")
})
