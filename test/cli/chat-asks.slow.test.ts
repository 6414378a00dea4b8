import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ASKING, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("a question for permission shows what would change; a yes does it, a no does not and says why", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment: ASKING })
  await program.shows(/you talk with/)
  program.type("write file first.txt with buy milk")
  await program.asks(/\+buy milk[\s\S]*Allow writeNewFile\? It writes\.[\s\S]*1\) yes[\s\S]*2\) no/)
  program.type("maybe")
  await program.shows(/Answer with y, n, a \(that is 3\) or a number from 1 to \d/)
  program.type("y")
  await program.shows(/✓ writeNewFile/)
  await program.shows(/context \d+ %/)
  expect(readFileSync(join(directory, "first.txt"), "utf8")).toBe("buy milk")
  program.type("write file second.txt with buy tea")
  await program.asks(/Allow writeNewFile\?/)
  await program.shows(/waiting for you/)
  program.type("no, we have tea")
  await program.shows(/✗ writeNewFile was refused: the person said no: we have tea/)
  await program.shows(/context \d+ %/)
  program.type("write file third.txt with buy tea")
  await program.asks(/Allow writeNewFile\?/)
  program.press("\x03")
  await program.shows(/✗ writeNewFile was refused/)
  await program.shows(/context \d+ %/)
  expect(existsSync(join(directory, "second.txt"))).toBe(false)
  expect(existsSync(join(directory, "third.txt"))).toBe(false)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("the model's question is answered at the prompt by a number", async () => {
  const program = startInTerminal({ directory: createFolder(), environment: ASKING })
  await program.shows(/you talk with/)
  program.type("ask me which colour: red, green or blue")
  await program.asks(/1\) red[\s\S]*3\) blue/)
  program.type("2")
  await program.shows(/✓ request_clarification[\s\S]*green/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("a call that needs an approval waits in the inbox if no person is there, and is made when it is answered", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, environment: ASKING })
  program.type("write file notes.txt with buy milk")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/\? writeNewFile waits for your approval as \[[0-9a-f]{8}\]\n/)
  expect(program.shown()).toMatch(
    /\] Allow writeNewFile\? It writes\.\n {2}Tool writeNewFile .*\n[^]*\+buy milk\n[^]* {2}Answer: \/answer [0-9a-f]{8} yes\|no\n/,
  )
  expect(existsSync(join(directory, "notes.txt"))).toBe(false)
  const next = startPiped({ directory, environment: ASKING })
  await next.shows(/1 task waits for your answer: see \/inbox/)
  next.type("/inbox")
  const id = (await next.shows(/\+buy milk[\s\S]*Answer: \/answer [0-9a-f]{8} /)).slice(-9, -1)
  next.type(`/answer ${id} maybe`)
  await next.shows(/Answer with yes, no/)
  next.type(`/answer ${id} yes`)
  await next.shows(new RegExp(`\\[${id}\\] completed in`))
  next.endInput()
  expect(await next.exited).toBe(0)
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("buy milk")
})

test("--yes allows every call that would be asked about, and says so", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, arguments: ["--yes"], environment: ASKING })
  program.type("write file notes.txt with buy milk")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/Allow writeNewFile\? It writes\. yes \(--yes\)\n/)
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("buy milk")
})

test("a chat asks once whether a folder's files are trusted, before it loads any", async () => {
  const directory = createFolder()
  mkdirSync(join(directory, ".meanwhile", "commands"), { recursive: true })
  writeFileSync(join(directory, ".meanwhile", "commands", "greet.md"), "say hello $1\n")
  const first = startInTerminal({ directory, environment: { ...ASKING, HOME: createFolder() } })
  await first.shows(/greet\.md[\s\S]*Do you trust them as they are now\? \[y\/N\] /)
  first.type("n")
  await first.shows(
    /Not loaded from .*, because\s+you\s+have\s+not\s+trusted\s+it\.\s+`meanwhile\s+trust`[\s\S]*you talk with/,
  )
  first.type("/greet world")
  await first.shows(/There is no command \/greet/)
  first.type("/quit")
  expect(await first.exited).toBe(0)
  const environment = { ...ASKING, HOME: createFolder() }
  for (const isAsked of [true, false]) {
    const next = startInTerminal({ directory, environment })
    if (isAsked) {
      await next.shows(/\[y\/N\] /)
      next.type("y")
    }
    await next.shows(/you talk with/)
    next.type("/greet world")
    await next.shows(/[\r\n]hello world\r\n/)
    next.type("/quit")
    expect(await next.exited).toBe(0)
    expect(next.shown().includes("[y/N]")).toBe(isAsked)
  }
})

test("a chat that is killed while it asks about a command asks again at the next start, and the command runs once", async () => {
  const directory = createFolder()
  const first = startInTerminal({ directory, environment: ASKING })
  await first.shows(/you talk with/)
  first.type("run `echo once >> done.txt`")
  await first.shows(/Allow run_command\?[\s\S]*waiting for you/)
  process.kill(first.pid, "SIGKILL")
  await first.exited
  const second = startInTerminal({ directory, arguments: ["--resume"], environment: ASKING })
  await second.asks(/echo once >> done\.txt[\s\S]*Allow run_command\?/)
  second.type("y")
  await second.shows(/✓ run_command[\s\S]*context \d+ %/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
  expect(second.shown()).not.toMatch(/interrupted|not known/)
  expect(readFileSync(join(directory, "done.txt"), "utf8")).toBe("once\n")
})
