import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("from a pipe, each line is answered before the next is read, without control codes", async () => {
  const program = startPiped({ directory: createFolder() })
  program.type("say hello there")
  program.type("run `echo one; echo two`")
  program.type("/tasks")
  program.endInput()
  expect(await program.exited).toBe(0)
  const shown = program.shown()
  expect(shown).toMatch(
    /^hello there\noffline\/rules · .* tokens · .* · context .* %\n• run_command echo one; echo two\n {2}│ one\n {2}│ two\n✓ run_command .*\n/,
  )
  expect(shown).toMatch(/No tasks yet.*\n$/)
  // oxlint-disable-next-line no-control-regex -- these must not be there
  expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
})

test("an answer streams while the prompt takes commands, and a message typed meanwhile is queued", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with offline\/rules/)
  program.type("count to 8 slowly")
  await program.shows(/1 2 /)
  program.type("/context")
  await program.shows(/Context: .* tokens/)
  program.type("say afterwards")
  await program.shows(/queued: the model hears it when it has answered/)
  await program.shows(/1 2 3 4 5 6 7 8/)
  await program.shows(/context \d+ %[\s\S]*[\r\n]afterwards\r\n[\s\S]*context \d+ %/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("a spinner tells that the model works, and is gone when it has answered", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("count to 3 slowly")
  await program.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] thinking… /)
  await program.shows(/1 2 3[\s\S]*context \d+ %/)
  program.type("/model")
  await program.shows(/Model: offline/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(program.shown().slice(program.shown().lastIndexOf("Model: offline"))).not.toContain("thinking")
})

test("a question for permission shows what would change; a yes does it, a no does not and says why", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory })
  await program.shows(/you talk with/)
  program.type("write file first.txt with buy milk")
  await program.shows(/\+buy milk[\s\S]*Allow writeNewFile\? It writes\.[\s\S]*1\) yes[\s\S]*2\) no[\s\S]*\? /)
  program.type("maybe")
  await program.shows(/Answer with y, n, a \(that is 3\) or a number from 1 to \d/)
  program.type("y")
  await program.shows(/✓ writeNewFile/)
  await program.shows(/context \d+ %/)
  expect(readFileSync(join(directory, "first.txt"), "utf8")).toBe("buy milk")
  program.type("write file second.txt with buy tea")
  await program.shows(/Allow writeNewFile\?[\s\S]*\? /)
  await program.shows(/waiting for you/)
  program.type("no, we have tea")
  await program.shows(/✗ writeNewFile was refused: the person said no: no, we have tea/)
  await program.shows(/context \d+ %/)
  program.type("write file third.txt with buy tea")
  await program.shows(/Allow writeNewFile\?[\s\S]*\? /)
  program.press("\x03")
  await program.shows(/✗ writeNewFile was refused/)
  await program.shows(/context \d+ %/)
  expect(existsSync(join(directory, "second.txt"))).toBe(false)
  expect(existsSync(join(directory, "third.txt"))).toBe(false)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("the model's question is answered at the prompt by a number", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("ask me which colour: red, green or blue")
  await program.shows(/1\) red[\s\S]*3\) blue[\s\S]*\? /)
  program.type("2")
  await program.shows(/✓ request_clarification[\s\S]*green/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("Ctrl+C stops the answer, and the conversation goes on", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("count to 400 slowly")
  await program.shows(/1 2 /)
  program.press("\x03")
  await program.shows(/the turn was stopped[\s\S]*stopped · offline\/rules/)
  program.type("say still here")
  await program.shows(/[\r\n]still here\r\n/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("Ctrl+C twice during an answer leaves, and says of the answer only that it was stopped", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory })
  await program.shows(/you talk with/)
  program.type("count to 400 slowly")
  await program.shows(/1 2 /)
  program.press("\x03\x03")
  expect(await program.exited).toBe(0)
  expect(program.shown()).not.toContain("The turn that runs")
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all"] })
  expect(stdout).toMatch(/cancelled .*count to 400 slowly/)
})

test.each([
  ["/quit", "/quit\r", /The turn that runs goes on at the next start of a chat or a worker\./],
  ["the end of input", "\x04", /1 2 3 4 5 6 7 8/],
])("%s during an answer leaves in peace", async (_, keys, shown) => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("count to 8 slowly")
  await program.shows(/1 2 /)
  program.press(keys)
  await program.shows(shown)
  expect(await program.exited).toBe(0)
})

test("what needs an approval and finds nobody waits in the inbox, and is done when it is answered", async () => {
  const directory = createFolder()
  const program = startPiped({ directory })
  program.type("write file notes.txt with buy milk")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/\? writeNewFile waits for your approval as \[[0-9a-f]{8}\]\n/)
  expect(program.shown()).toMatch(
    /\] Allow writeNewFile\? It writes\.\n {2}.*notes\.txt\n {2}Answer: \/answer [0-9a-f]{8} yes\|no\n/,
  )
  expect(existsSync(join(directory, "notes.txt"))).toBe(false)
  const next = startPiped({ directory })
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

test("--yes allows what would be asked, and says so", async () => {
  const directory = createFolder()
  const program = startPiped({ directory, arguments: ["--yes"] })
  program.type("write file notes.txt with buy milk")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/Allow writeNewFile\? It writes\. yes \(--yes\)\n/)
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("buy milk")
})

test("what a subagent does is labelled with its name", async () => {
  const program = startPiped({ directory: createFolder() })
  program.type("ask a subagent to run `echo from below`")
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/\n\S+ │ • run_command echo from below\n/)
})

test("text of tools cannot act on the terminal", async () => {
  const program = startPiped({ directory: createFolder() })
  program.type(String.raw`run ${"`"}printf '\033[31mred\033[0m\007 \033]0;title\007done'${"`"}`)
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toContain("  │ red done\n")
  // oxlint-disable-next-line no-control-regex -- these must not be there
  expect(program.shown()).not.toMatch(/[\u0007\u001b]/)
})

test("/help lists the commands of plugins, and a file in the commands folder is one", async () => {
  const directory = createFolder()
  mkdirSync(join(directory, ".meanwhile", "commands"), { recursive: true })
  writeFileSync(join(directory, ".meanwhile", "commands", "greet.md"), "say hello $1\n")
  const program = startPiped({ directory, arguments: ["--trust", "--data-dir", "data"] })
  program.type("/help")
  await program.shows(/\/greet[\s\S]*\/sessions +Lists the conversations/)
  program.type("/GREET world")
  await program.shows(/hello world/)
  program.type("/plan")
  await program.shows(/There is no plan/)
  program.type("/tools")
  await program.shows(/shell\n {2}run_command/)
  program.type("/model")
  await program.shows(
    /Model: offline\/rules\nProviders:\n[\s\S]*anthropic +not set up: set ANTHROPIC_API_KEY\n[\s\S]*ollama +needs no key/,
  )
  program.type("/model offline/second")
  await program.shows(/From the next answer on: offline\/second/)
  program.type("/model nobody/knows")
  await program.shows(/There is no provider for the model/)
  program.endInput()
  expect(await program.exited).toBe(0)
})

test("NO_COLOR takes the colours away from a terminal", async () => {
  const directory = createFolder()
  const colours = async (environment: Record<string, string>): Promise<boolean> => {
    const program = startInTerminal({ directory, environment })
    await program.shows(/you talk with[\s\S]*> /)
    program.type("/quit")
    await program.exited
    return program.raw().includes("\u001b[1m")
  }
  expect(await colours({})).toBe(true)
  expect(await colours({ NO_COLOR: "1" })).toBe(false)
})

test("a folder's files are asked about once, before anything of them is loaded", async () => {
  const directory = createFolder()
  mkdirSync(join(directory, ".meanwhile", "commands"), { recursive: true })
  writeFileSync(join(directory, ".meanwhile", "commands", "greet.md"), "say hello $1\n")
  const first = startInTerminal({ directory, environment: { HOME: createFolder() } })
  await first.shows(/greet\.md[\s\S]*Do you trust them as they are now\? \[y\/N\] /)
  first.type("n")
  await first.shows(/Not loaded from .*, because you have not trusted it\. `meanwhile trust`[\s\S]*you talk with/)
  first.type("/greet world")
  await first.shows(/There is no command \/greet/)
  first.type("/quit")
  expect(await first.exited).toBe(0)
  const environment = { HOME: createFolder() }
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
