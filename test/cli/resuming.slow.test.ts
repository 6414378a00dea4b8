import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

test("after a crash a person is greeted before the report that is due, which is the main agent's and told once", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: QUICK })
  first.type("run `until test -e go; do sleep 0.05; done; echo found it`")
  await first.shows(/moved to the background[\s\S]*context \d+ %/)
  // Handled once the turn's end is kept.
  first.type("/tasks")
  await first.shows(/running/)
  first.kill("SIGKILL")
  await first.exited
  writeFileSync(join(directory, "go"), "")
  const second = startInTerminal({ directory, environment: QUICK, arguments: ["--resume"] })
  await second.shows(/\(about task [0-9a-f]{8}: until.*\)[\s\S]*has completed: found it\r\n/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
  const shown = second.shown()
  expect(shown.indexOf("Going on with session")).toBeLessThan(shown.indexOf("(about task"))
  expect(shown).toMatch(/> run `until test -e go/)
  expect(shown).not.toMatch(/session [0-9a-f]{8} │|nobody has said anything/)
  expect(shown.slice(0, shown.indexOf("(about task"))).not.toContain("has completed")
  expect(shown.match(/\(about task/g)).toHaveLength(1)
})

test("--resume goes on with the last chat, not with a prompt that was run after it", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("say the milk is gone")
  first.endInput()
  expect(await first.exited).toBe(0)
  await runToEnd({ directory, arguments: ["run", "say once"] })
  const second = startInTerminal({ directory, arguments: ["--resume"] })
  await second.shows(/Going on with session [\s\S]*> say the milk is gone/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
})
