import { describe, expect, it } from "vitest"
import { systemClock } from "../../base/clock.ts"
import { createWeb, page, serve } from "../../../test/support/builtin/web.ts"

describe("a server in trouble", () => {
  it.each([429, 500, 503])("is tried again after status %s", async (status) => {
    let calls = 0
    const { host, url } = await serve((request, response) => {
      if (++calls < 3) response.writeHead(status).end()
      else page("at last", "text/plain")(request, response)
    })
    expect((await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("at last")
    expect(calls).toBe(3)
  })

  it("is left alone after the last try, and at once after an answer that will not change", async () => {
    let calls = 0
    const { host, url } = await serve((request, response) => {
      calls++
      response.writeHead(request.url === "/gone" ? 404 : 503).end()
    })
    const { fetch } = createWeb({ allowPrivateHosts: [host] })
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
    const { fetch } = createWeb({ allowPrivateHosts: [host], clock })
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
    expect((await createWeb({ allowPrivateHosts: [host] }).fetch({ url })).text).toContain("back")
  })

  it("is given up when it stops in the middle", async () => {
    const { host, url } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("half")
    })
    expect(
      await createWeb({ allowPrivateHosts: [host], idleTimeoutMs: 50, retryDelaysMs: [] }).fetch({ url }),
    ).toMatchObject({ code: "too_slow", message: `${host} sent nothing for 0.05 s.` })
  })

  it("is left as soon as the call is stopped, however slowly it answers", async () => {
    const closed = Promise.withResolvers<void>()
    const { host, url } = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" })
      const timer = setInterval(() => response.write("."), 5)
      response.on("close", () => {
        clearInterval(timer)
        closed.resolve()
      })
    })
    const { fetch, controller, reports } = createWeb({ allowPrivateHosts: [host] })
    const fetched = fetch({ url })
    fetched.catch(() => undefined)
    await expect.poll(() => reports.length).toBeGreaterThan(2)
    controller.abort(new Error("enough"))
    await expect(fetched).rejects.toThrow("enough")
    await closed.promise
  })
})
