import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

test("the program reads lines, obeys them and ends at the end of input", async () => {
  const program = startPiped({ directory: createFolder() })
  program.type("/run echo one; echo two >&2; exit 3")
  program.type("/tasks")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toBe(
    "one\ntwo\nfailed: `echo one; echo two >&2; exit 3` exited with 3.\n" +
      "No tasks yet. What takes long becomes one: try /run sleep 15.\n",
  )
})

test("a command past the threshold is promoted, and its end is announced before the program ends", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, environment: QUICK })
  program.type("/run echo begun; until test -e go; do sleep 0.02; done; echo ended")
  await program.shows(/begun\n\[[0-9a-f]{8}\] still runs after .* and goes on in the background/)
  program.type("/run touch go")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/\[[0-9a-f]{8}\] completed in .*: echo begun/)
})

test("data lives in .meanwhile of the working directory, which keeps itself out of git", async () => {
  const directory = createFolder()
  const program = startPiped({ directory })
  program.endInput()
  await program.exited
  expect(readFileSync(join(directory, ".meanwhile", ".gitignore"), "utf8")).toBe("*\n")
  expect(existsSync(join(directory, ".meanwhile", "store.sqlite"))).toBe(true)
})

test("--data-dir puts the data elsewhere", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, arguments: ["--data-dir", "elsewhere"] })
  program.endInput()
  await program.exited
  expect(existsSync(join(directory, "elsewhere", "store.sqlite"))).toBe(true)
  expect(existsSync(join(directory, ".meanwhile", "store.sqlite"))).toBe(false)
})

test("start runs a command in the background at once, and says for how long at most", async () => {
  const directory = createFolder()
  const program = startPiped({ directory })
  program.type("/start until test -e go; do sleep 0.02; done")
  const id = (await program.shows(/\[[0-9a-f]{8}\] is running in the background, for 5 min 0 s at most/)).slice(1, 9)
  program.type(`/task ${id}`)
  await program.shows(/limit {5}5 min 0 s/)
  program.type("/run touch go")
  await program.shows(new RegExp(`\\[${id}\\] completed in`))
  program.endInput()
  expect(await program.exited).toBe(0)
})

test("an unknown command is answered with near names, and capital and small letters are the same", async () => {
  const program = startPiped({ directory: createFolder() })
  for (const line of ["/tusks", "/zzz", "/RUN echo loud"]) program.type(line)
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toBe(
    "There is no command /tusks. Did you mean /tasks or /task?\n" +
      "There is no command /zzz. /help lists all commands.\nloud\n",
  )
})

test("a cancel is announced once, and another cancel says that the task has ended", async () => {
  const program = startPiped({ directory: createFolder() })
  program.type("/start sleep 1000")
  const id = (await program.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  program.type(`/cancel ${id}`)
  await program.shows(/cancelled after .* by person: it was asked to stop \(sleep 1000\)\n/)
  program.type(`/cancel ${id}`)
  await program.shows(/has ended already: cancelled after/)
  program.endInput()
  await program.exited
  expect(program.shown().match(/cancelled after/g)).toHaveLength(2)
})

test("show tells what is known, output what was printed, and both refuse an unknown id", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, environment: QUICK })
  program.type("/run echo first; until test -e go; do sleep 0.02; done; echo last; exit 4")
  const id = (await program.shows(/\[[0-9a-f]{8}\] still runs/)).slice(1, 9)
  program.type(`/task ${id}`)
  await program.shows(/status {4}running[\s\S]*last line first/)
  writeFileSync(join(directory, "go"), "")
  await program.shows(new RegExp(`\\[${id}\\] failed after .* exited with 4`))
  program.type(`/output ${id}`)
  await program.shows(/first\nlast\n/)
  program.type("/output --follow")
  await program.shows(/Say which task/)
  program.type("/task zzz")
  await program.shows(/There is no task "zzz"/)
  program.type(`/retry ${id}`)
  await program.shows(new RegExp(`\\[${id}\\] failed after`))
  program.type("/clear")
  await program.shows(/1 ended task removed/)
  program.type("/tasks")
  await program.shows(/No tasks yet/)
  program.endInput()
  expect(await program.exited).toBe(0)
})

test("output --follow shows what is printed until the task ends", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, environment: QUICK })
  program.type("/run echo begun; until test -e go; do sleep 0.02; done; echo over")
  const id = (await program.shows(/\[[0-9a-f]{8}\] still runs/)).slice(1, 9)
  program.type(`/output ${id} --follow`)
  await program.shows(/begun\n/)
  const other = startPiped({ directory })
  other.type("/run touch go")
  other.endInput()
  await program.shows(/over\n/)
  program.endInput()
  expect(await program.exited).toBe(0)
  await other.exited
})

test("with --on-exit stop, quit stops running tasks and leaves", async () => {
  const program = startPiped({ directory: createFolder(), environment: QUICK, arguments: ["--on-exit", "stop"] })
  program.type("/run sleep 1000")
  await program.shows(/still runs/)
  program.type("/quit")
  await program.shows(/Cancelling 1 task\. To run it again: meanwhile tasks retry ID\n {2}\[[0-9a-f]{8}\] sleep 1000/)
  expect(await program.exited).toBe(0)
})

test("a data folder that cannot be used is one clear error", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, arguments: ["--data-dir", "/dev/null/data"] })
  program.endInput()
  expect(await program.exited).toBe(2)
  expect(program.shown()).toBe(
    "meanwhile: The data folder /dev/null/data cannot be used: a part of that path is a file. Name another: --data-dir FOLDER\n",
  )
})

test("a command refuses words that it does not understand, and does nothing", async () => {
  const program = startPiped({ directory: createFolder() })
  program.type("/start false")
  const id = (await program.shows(/\[[0-9a-f]{8}\] failed/)).slice(1, 9)
  for (const line of [`/clear ${id}`, "/tasks show", `/output ${id} more`, `/output --fast`, "/groups x", "/quit now"])
    program.type(line)
  program.type("/tasks")
  await program.shows(new RegExp(`/clear does not understand "${id}"\\. Usage: /clear\n`))
  await program.shows(/\/tasks does not understand "show"\. Usage: \/tasks \[all\]; \/task ID shows one\n/)
  await program.shows(/\/output does not understand "more"\. Usage: \/output ID \[--follow\]\n/)
  await program.shows(/\/output does not understand "--fast"/)
  await program.shows(/\/groups does not understand "x"/)
  await program.shows(/\/quit does not understand "now"/)
  await program.shows(new RegExp(`${id} +failed`))
  program.type("/help /tasks")
  await program.shows(/^\/tasks \[all\]: list the newest/m)
  program.endInput()
  expect(await program.exited).toBe(0)
})
