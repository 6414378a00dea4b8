import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { withPatience } from "../support/patience.ts"
import { endNow } from "../support/processes.ts"
import { databaseOf } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

const EXAMPLE = fileURLToPath(new URL("../../examples/16-http-server.ts", import.meta.url))
const MOST_LINES = 40
/** Baked when the server is killed, and after that at once. */
const FOR_EVER = "1000000000"
const AT_ONCE = "0"
const CAKE = 'call bake with {"what": "cake"}'

interface Seen {
  readonly id: number
  readonly type: string
}

async function startServer(folder: string, bakeMs: string) {
  const DATA = join(folder, "data")
  const ENGINE = (await databaseOf(DATA)) ?? ""
  const child = spawn(process.execPath, ["--conditions=@meanwhile/source", EXAMPLE], {
    env: { ...process.env, DATA, ENGINE, PORT: "0", BAKE_MS: bakeMs },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const { pid } = child
  if (pid === undefined) throw new Error("The server could not be started.")
  onTestFinished(() => endNow(pid))
  const [url] = (await withPatience(once(createInterface({ input: child.stdout }), "line"), () => "no URL")) as [string]

  async function ask(method: string, path: string, body?: string) {
    const response = await fetch(`${url}${path}`, { method, ...(body !== undefined && { body }) })
    const text = await response.text()
    return { status: response.status, text, turn: /"turn":"([^"]*)"/.exec(text)?.[1] ?? "" }
  }

  /** Reads events behind the last known one until `isEnough`, and drops the connection then. */
  async function follow(turn: string, after: number, isEnough: (seen: Seen) => boolean = () => false) {
    const dropped = new AbortController()
    const headers = { "last-event-id": String(after) }
    const { body } = await fetch(`${url}/turns/${turn}/events`, { headers, signal: dropped.signal })
    const seen: Seen[] = []
    let text = ""
    const decoder = new TextDecoder()
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const events = text.split("\n\n")
      text = events.pop() ?? ""
      for (const event of events) {
        seen.push({ id: Number(/^id: (.*)$/m.exec(event)?.[1]), type: /^event: (.*)$/m.exec(event)?.[1] ?? "" })
        if (isEnough(seen.at(-1) ?? { id: 0, type: "" })) return seen
      }
    }
    return seen
  }

  async function kill(): Promise<void> {
    child.kill("SIGKILL")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  }
  return { ask, follow, kill }
}

const lastOf = (seen: readonly Seen[]): number => seen.at(-1)?.id ?? 0

test("a turn over HTTP is followed on through a lost connection and a killed server, without a gap and without a repeat", async () => {
  const folder = createFolder()
  const first = await startServer(folder, FOR_EVER)
  const { status, turn } = await first.ask("POST", "/sessions/kitchen/turns", CAKE)
  expect(status).toBe(202)
  const seen = await first.follow(turn, 0, () => true)
  seen.push(...(await first.follow(turn, lastOf(seen), ({ type }) => type === "task.started")))
  expect(await first.ask("POST", "/sessions/kitchen/turns", "And?")).toMatchObject({ status: 409 })
  await first.kill()
  const second = await startServer(folder, AT_ONCE)
  seen.push(...(await second.follow(turn, lastOf(seen))))
  expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1))
  expect(seen.at(-1)?.type).toBe("task.completed")
  expect(JSON.parse((await second.ask("GET", "/sessions/kitchen/said")).text)).toEqual([
    { by: "person", text: CAKE },
    { by: "agent", text: expect.stringContaining("one cake") },
  ])
})

test("a turn over HTTP is stopped, and taken again, through a killed server", async () => {
  const folder = createFolder()
  const first = await startServer(folder, FOR_EVER)
  const { turn } = await first.ask("POST", "/sessions/kitchen/turns", CAKE)
  await first.follow(turn, 0, ({ type }) => type === "task.started")
  expect((await first.ask("DELETE", `/turns/${turn}`)).status).toBe(202)
  expect((await first.follow(turn, 0)).at(-1)?.type).toBe("task.cancelled")
  const again = await first.ask("POST", "/sessions/kitchen/retry")
  expect(again.status).toBe(202)
  const seen = await first.follow(again.turn, 0, ({ type }) => type === "task.started")
  await first.kill()
  const second = await startServer(folder, AT_ONCE)
  seen.push(...(await second.follow(again.turn, lastOf(seen))))
  expect(seen.at(-1)?.type).toBe("task.completed")
  const said = JSON.parse((await second.ask("GET", "/sessions/kitchen/said")).text) as { readonly by: string }[]
  expect(said.filter(({ by }) => by === "person")).toEqual([{ by: "person", text: CAKE }])
  expect(await second.ask("POST", "/sessions/kitchen/retry")).toMatchObject({
    status: 409,
    text: expect.stringContaining("its last turn has completed"),
  })
})

test("a server over HTTP says what is wrong with what it is asked", async () => {
  const { ask, follow } = await startServer(createFolder(), AT_ONCE)
  expect((await ask("POST", "/sessions/kitchen/turns", " ")).status).toBe(400)
  expect((await ask("GET", "/turns/nonsense/events")).status).toBe(404)
  expect((await ask("DELETE", "/turns/00000000-0000-4000-8000-000000000000")).status).toBe(404)
  expect((await ask("GET", "/elsewhere")).status).toBe(404)
  const { turn } = await ask("POST", "/sessions/kitchen/turns", "say hello")
  expect((await follow(turn, 0)).at(-1)?.type).toBe("task.completed")
  expect(await follow(turn, 1_000)).toEqual([])
})

test("the server of the example has at most forty lines, with what it imports", () => {
  const lines = readFileSync(EXAMPLE, "utf8").split("\n")
  const begin = lines.findIndex((line) => line.startsWith("const STATUS"))
  const end = lines.findIndex((line, index) => index > begin && line === "}")
  const body = lines.slice(begin, end + 1)
  const names = ["createServer", "text", "isMeanwhileError", "Runtime"]
  const imports = lines.filter((line) => line.startsWith("import ") && names.some((name) => line.includes(name)))
  expect(body.length + imports.length).toBeLessThanOrEqual(MOST_LINES)
  for (const name of names) expect(body.join("\n")).toContain(name)
})
