import { expect, test } from "vitest"
import { runToEnd } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** A zone in which it is another day than in UTC. */
const ZONE = new Date().getUTCHours() < 11 ? "Pacific/Pago_Pago" : "Pacific/Kiritimati"
const TIME = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d"

/** Swedish writes a time as `2026-01-02 12:00:05`. */
const toZone = (at: number): string => new Date(at).toLocaleString("sv-SE", { timeZone: ZONE })

test("all times that people are shown are in the zone of the person", async () => {
  const directory = createFolder()
  const meanwhile = (words: readonly string[], input = "") =>
    runToEnd({ directory, arguments: words, environment: { TZ: ZONE } }, input)
  const begunAt = Date.now()
  await meanwhile(["run", "start `true` in the background"])
  await meanwhile(["trust"])
  const [row = "{}"] = (await meanwhile(["tasks", "list", "--json"])).stdout.split("\n")
  const { id, createdAt } = JSON.parse(row) as { id: string; createdAt: number }
  expect((await meanwhile(["tasks", "show", id])).stdout).toContain(`\ncreated   ${toZone(createdAt)}\n`)

  const sessions = (await meanwhile([], "/sessions\n")).stdout
  const [, used = ""] = new RegExp(` {2}(${TIME}) +\\d turn`).exec(sessions) ?? []
  expect(used >= toZone(begunAt).slice(0, 16) && used <= toZone(Date.now())).toBe(true)

  const { stdout } = await meanwhile(["trust", "list"])
  const [, since = ""] = /data folder, since (\S+)/.exec(stdout) ?? []
  expect(since >= toZone(begunAt).slice(0, 10) && since <= toZone(Date.now())).toBe(true)
})
