import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

test("a task that ended while no program watched is announced at the next start, once", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("/run true")
  first.type("/start until test -e go; do sleep 0.02; done; touch gone")
  const id = (await first.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  first.kill("SIGKILL")
  await first.exited
  writeFileSync(join(directory, "go"), "")
  await eventually("the command has ended", () => existsSync(join(directory, "gone")))
  for (const times of [1, 0]) {
    const next = startPiped({ directory })
    next.endInput()
    expect(await next.exited).toBe(0)
    expect(next.shown().match(new RegExp(`\\[${id}\\] completed in`, "g")) ?? []).toHaveLength(times)
  }
})

test("a long task that ended unseen is announced, however many shorter ones ended before it", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("/start until test -e go; do sleep 0.02; done; touch gone")
  const id = (await first.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  for (let count = 0; count < 25; count++) {
    first.type("/start true")
    await first.shows(/completed in .*: true/)
  }
  // An end is remembered after it was shown: only the next output proves that it was remembered.
  first.type("/help")
  await first.shows(/quit {2,}cancel/)
  first.kill("SIGKILL")
  await first.exited
  writeFileSync(join(directory, "go"), "")
  await eventually("the command has ended", () => existsSync(join(directory, "gone")))
  const next = startPiped({ directory })
  next.endInput()
  expect(await next.exited).toBe(0)
  expect(next.shown().match(/completed in/g)).toHaveLength(1)
  expect(next.shown()).toContain(`[${id}] completed in`)
})

test("004-61: a second copy sees the same tasks by the command tasks, and can cancel them", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: QUICK })
  first.type("/run sleep 1000")
  const id = (await first.shows(/\[[0-9a-f]{8}\] still runs/)).slice(1, 9)
  const second = startPiped({ directory, environment: QUICK })
  await second.shows(/1 task runs elsewhere/)
  second.type("/tasks")
  await second.shows(new RegExp(`${id}  running`))
  second.type(`/cancel ${id}`)
  await second.shows(new RegExp(`\\[${id}\\] cancelled after .* by person`))
  await first.shows(new RegExp(`\\[${id}\\] cancelled after .* by person`))
  second.endInput()
  first.endInput()
  expect(await first.exited).toBe(0)
  expect(await second.exited).toBe(0)
})

test("a second copy ends at the end of its input, even if the first still runs tasks", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: QUICK })
  first.type("/run sleep 1000")
  await first.shows(/still runs/)
  const second = startPiped({ directory, environment: QUICK })
  second.type("/tasks")
  second.endInput()
  expect(await second.exited).toBe(0)
  expect(second.shown()).toMatch(/1 task runs elsewhere[\s\S]*running/)
  first.type("/tasks")
  await first.shows(/running/)
  first.type("/quit")
  expect(await first.exited).toBe(0)
})

test("a task that had not ended goes on at the next start, with its output and its end", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: QUICK })
  first.type("/run echo before; until test -e go; do sleep 0.02; done; echo after; exit 5")
  const id = (await first.shows(/\[[0-9a-f]{8}\] still runs/)).slice(1, 9)
  first.kill("SIGKILL")
  await first.exited
  const second = startPiped({ directory, environment: QUICK })
  await second.shows(/1 task goes on from before/)
  second.type("/run touch go")
  await second.shows(new RegExp(`\\[${id}\\] failed after .* exited with 5`))
  second.type(`/output ${id}`)
  await second.shows(/before\nafter\n/)
  second.endInput()
  expect(await second.exited).toBe(0)
})
