import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import type { JsonObject } from "../../src/base/json.ts"
import type { Log } from "../../src/plugin/context.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createWorkplace } from "../support/workplace.ts"
import { isPostgres } from "../support/test-engine.ts"

/** Put together here, so that no key stands in this file either. */
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
const SECRETS = {
  "a model key": `sk-ant-api03-${DIGITS}`,
  "a GitHub token": `ghp_${DIGITS}`,
  "an AWS key": `AKIA${"ABCDEFGH01234567"}`,
  "a Slack token": `xoxb-${"123456789012"}-${DIGITS}`,
  "a token in a header": `Authorization: Bearer ${DIGITS}${DIGITS}`,
  "a password in an address": `https://someone:${"hunter2hunter2"}@example.org/`,
} as const

/** What must not be found anywhere: the part of each that is the secret itself. */
const HIDDEN = Object.values(SECRETS).map((secret) =>
  secret.replace(/^Authorization: Bearer /, "").replace(/^https:..someone:(.*)@.*$/, "$1"),
)

function createListeningLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  const write = (message: string, fields?: JsonObject) => void lines.push(`${message} ${JSON.stringify(fields ?? {})}`)
  return { lines, debug: write, info: write, warn: write, error: write }
}

/** Hands the secret to everything a tool can write to. */
const leaky = defineTool({
  name: "leaky",
  description: "Says what it was told everywhere it can.",
  input: z.object({ secret: z.string(), fails: z.boolean().default(false) }),
  background: { mode: "always" },
  title: ({ secret }) => `uses ${secret}`,
  async run({ secret, fails }, { output, progress, log, step }) {
    output.write(`printed ${secret}\n`)
    progress({ line: `at ${secret}`, phase: `with ${secret}`, done: 1, total: 2 })
    log.info(`logged ${secret}`, { secret, nested: { list: [secret] } })
    await step("say", async () => `step ${secret}`)
    if (fails) throw new Error(`failed with ${secret}`)
    return { returned: secret, list: [`in a list ${secret}`] }
  },
})

describe("B7. Secrets (known key shapes, values of secret-looking environment variables, auth headers) are redacted in records, events and logs; raw keys are never stored", () => {
  async function prepare() {
    const log = createListeningLog()
    const workplace = await createWorkplace({ tools: [leaky], log })
    return { ...workplace, log, tasks: workplace.meanwhile.tasks }
  }

  /** The bytes of the store as they lie on disk, its log included. */
  function storedText(directory: string): string {
    const data = join(directory, "data")
    return readdirSync(data)
      .filter((name) => name.startsWith("store.sqlite"))
      .map((name) => readFileSync(join(data, name), "latin1"))
      .join("")
  }

  function expectHidden(text: string, secrets: readonly string[]): void {
    for (const secret of secrets) expect(text.includes(secret), `${secret.slice(0, 8)}… is shown`).toBe(false)
  }

  for (const [what, secret] of Object.entries(SECRETS)) {
    test(`${what}: in the record, its events, its steps, its output, the log and the file`, async () => {
      const { meanwhile, tasks, log, directory } = await prepare()
      const metadata = { note: `kept for ${secret}` }
      const worked = await tasks.start({ tool: "leaky", input: { secret }, metadata })
      const failed = await tasks.start({ tool: "leaky", input: { secret, fails: true }, title: `also ${secret}` })
      const seen: unknown[] = []
      for (const { id } of [worked, failed]) {
        const view = await tasks.result(id, { waitMs: 30_000 })
        seen.push(view, await tasks.output(id), await meanwhile.engine.store.events(view.task.id, 0, 100))
        seen.push(await meanwhile.engine.store.steps(view.task.id, 1))
        expect(view.task.status).toBe(id === worked.id ? "completed" : "failed")
      }
      seen.push(await tasks.list({}))
      expectHidden(JSON.stringify(seen), HIDDEN)
      expect(log.lines.length).toBeGreaterThan(0)
      expectHidden(log.lines.join("\n"), HIDDEN)
      await meanwhile.close()
      expectHidden(storedText(directory), HIDDEN)
    })
  }

  test("the reason of a stop", async () => {
    const { meanwhile, tasks, directory } = await prepare()
    const secret = SECRETS["a model key"]
    const input = { command: "echo running; exec sleep 300" }
    const { id } = await tasks.start({ tool: "run_command", input })
    await tasks.waitForOutput(id, { pattern: /running/, timeoutMs: 30_000 })
    await tasks.cancel(id, { reason: `it used ${secret}` })
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expectHidden(JSON.stringify(task), HIDDEN)
    const running = Promise.withResolvers<string>()
    const execution = tasks.execute({ tool: "run_command", input }, { onOutput: running.resolve })
    await running.promise
    execution.cancel({ reason: `it used ${secret}` })
    expectHidden(JSON.stringify(await execution.answer), HIDDEN)
    await meanwhile.close()
    expectHidden(storedText(directory), HIDDEN)
  })

  test("the value of a secret-looking variable of Meanwhile's own environment", async () => {
    const value = `plain-looking-${DIGITS.slice(0, 12)}`
    process.env["MEANWHILE_TEST_API_KEY"] = value
    onTestFinished(() => {
      delete process.env["MEANWHILE_TEST_API_KEY"]
    })
    const { meanwhile, tasks, log, directory } = await prepare()
    const { id } = await tasks.start({ tool: "leaky", input: { secret: value } })
    const view = await tasks.result(id, { waitMs: 30_000 })
    const events = await meanwhile.engine.store.events(view.task.id, 0, 100)
    expectHidden(JSON.stringify([view, events, await tasks.output(id), log.lines]), [value])
    await meanwhile.close()
    expectHidden(storedText(directory), [value])
  })

  test("the value of a secret-looking variable that a command is given, in all it prints", async () => {
    const value = `plain-looking-${DIGITS.slice(0, 12)}`
    const { meanwhile, tasks, directory } = await prepare()
    const input = { command: "echo the token is $DEPLOY_TOKEN", env: { DEPLOY_TOKEN: value } }
    const shown: string[] = []
    const answer = await tasks.execute({ tool: "run_command", input }, { onOutput: (text) => shown.push(text) }).answer
    expect(answer.outcome).toBe("completed")
    expectHidden(JSON.stringify([answer, shown]), [value])
    const { id } = await tasks.start({ tool: "run_command", input })
    const view = await tasks.result(id, { waitMs: 30_000 })
    expect(view.task.status).toBe("completed")
    const events = await meanwhile.engine.store.events(view.task.id, 0, 100)
    expectHidden(JSON.stringify([view, events, await tasks.output(id)]), [value])
    await meanwhile.close()
    expectHidden(storedText(directory), [value])
  })

  test("the command still gets the secret, and what it printed raw can be read by its owner alone", async () => {
    const { tasks, directory } = await prepare()
    const secret = SECRETS["a GitHub token"]
    const { id } = await tasks.start({
      tool: "run_command",
      input: { command: `printf %s ${secret} | wc -c; echo ${secret}` },
    })
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task.status).toBe("completed")
    const { text } = await tasks.output(id)
    expect(text.split("\n")[0]?.trim()).toBe(String(secret.length))
    expectHidden(text, HIDDEN)
    const spool = join(directory, "data", "spool")
    let rawFiles = 0
    for (const name of ["", ...readdirSync(spool, { recursive: true, encoding: "utf8" })]) {
      const path = join(spool, name)
      const entry = statSync(path)
      const isRaw = entry.isFile() && readFileSync(path, "latin1").includes(secret)
      if (isRaw) rawFiles++
      if (isRaw || entry.isDirectory()) expect([name, (entry.mode & 0o077).toString(8)]).toEqual([name, "0"])
    }
    // On PostgreSQL, output that has ended is in the store alone, without the secret.
    expect(rawFiles).toBe(isPostgres ? 0 : 1)
  })

  test("a task whose input held a secret cannot be run again once the process that knew it is gone, and says so", async () => {
    const { meanwhile, tasks, another } = await prepare()
    const secret = SECRETS["a model key"]
    const { id } = await tasks.start({ tool: "leaky", input: { secret, fails: true } })
    await tasks.result(id, { waitMs: 30_000 })
    await meanwhile.close()
    const later = await another()
    await expect(later.tasks.retry(id)).rejects.toMatchObject({ code: "secret_not_kept" })
  })
})
