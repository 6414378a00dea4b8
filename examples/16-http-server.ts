/**
 * An agent behind HTTP, on `node:http` and handles alone: a turn is answered with 202 and its id, told from a cursor, stopped and
 * taken again. Whoever is cut off, by the network or by a crash of the server, goes on behind the last event that arrived.
 * Without PORT it talks to itself once. To serve: PORT=8080 DATA=.meanwhile npm run example -- examples/16-http-server.ts
 */
import { once } from "node:events"
import { mkdtempDisposable } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { createRuntime, defineTool, isMeanwhileError, type Runtime } from "meanwhile"
import { z } from "zod"

const STATUS: Record<string, number> = { invalid_input: 400, not_found: 404, session_busy: 409, wrong_state: 409 }

/** The whole server. */
function toServer({ tasks, openSession, createSession }: Runtime) {
  const open = (id: string) => openSession(id).catch(() => createSession({ id }))
  async function handle(request: IncomingMessage, response: ServerResponse) {
    const [, kind, id = "", action = ""] = (request.url ?? "").split("/")
    const reply = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body))
    switch (`${request.method} ${kind} ${action}`) {
      case "POST sessions turns": {
        const turn = await (await open(id)).start(await text(request), { whenBusy: "refuse" })
        return reply(202, { turn: turn.id })
      }
      case "POST sessions retry":
        return reply(202, { turn: (await (await open(id)).retry({ whenBusy: "refuse" })).id })
      case "GET sessions said":
        return reply(200, await (await open(id)).recall({ count: 20 }))
      case "DELETE turns ":
        return reply(202, { turn: (await tasks.cancel(id)).id })
    }
    if (kind !== "turns" || action !== "events") return reply(404, { error: "There is nothing here." })
    const gone = new AbortController()
    response.on("close", () => gone.abort()).setHeader("content-type", "text/event-stream")
    const after = Number(request.headers["last-event-id"] ?? 0)
    for await (const { sequence, body } of tasks.events(id, { after, signal: gone.signal }))
      response.write(`id: ${sequence}\nevent: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`)
    return response.end()
  }
  return createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const status = isMeanwhileError(error) ? (STATUS[error.code] ?? 503) : 500
      if (!response.headersSent) response.writeHead(status, { "content-type": "text/plain" })
      response.end(isMeanwhileError(error) ? error.message : "")
    })
  })
}

const bake = defineTool({
  name: "bake",
  description: "Bakes something.",
  input: z.object({ what: z.string() }),
  onCrash: "retry", // baked again if the server dies meanwhile
  async run({ what }, { signal }) {
    await setTimeout(Number(process.env["BAKE_MS"] ?? 1), null, { signal })
    return `one ${what}`
  },
})

const { DATA, ENGINE, PORT } = process.env
await using folder = await mkdtempDisposable(join(tmpdir(), "kitchen-"))
await using runtime = await createRuntime({
  dataDirectory: DATA ?? folder.path,
  ...(ENGINE && { engine: ENGINE }),
  model: "offline/rules",
  tools: [bake],
})
const server = toServer(runtime).listen(Number(PORT ?? 0), "127.0.0.1")
await once(server, "listening")
const address = server.address()
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
if (PORT !== undefined) {
  console.log(url)
  await once(process, "SIGTERM")
} else {
  const started = await fetch(`${url}/sessions/kitchen/turns`, {
    method: "POST",
    body: 'call bake with {"what": "cake"}',
  })
  const { turn } = (await started.json()) as { readonly turn: string }
  console.log(started.status)

  // A reader whose connection is lost goes on behind the last event that it has. The stream ends with the turn.
  const read = (after: number) => fetch(`${url}/turns/${turn}/events`, { headers: { "last-event-id": String(after) } })
  const idsIn = (events: string) => [...events.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  const connection = (await read(0)).body?.getReader()
  const heard = new TextDecoder().decode((await connection?.read())?.value as Uint8Array | undefined)
  await connection?.cancel()
  const events = heard + (await (await read(idsIn(heard).at(-1) ?? 0)).text())
  console.log(idsIn(events).every((id, index) => id === index + 1) ? "no gap, and nothing twice" : events)
  console.log(events.includes("task.completed") ? "completed" : events)
  const said = await fetch(`${url}/sessions/kitchen/said`)
  for (const { by, text: words } of (await said.json()) as { by: string; text: string }[])
    console.log(`${by}: ${words}`)
}
server.close()

/* Prints:
202
no gap, and nothing twice
completed
person: call bake with {"what": "cake"}
agent: bake returned:

one cake
*/
