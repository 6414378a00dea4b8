import { mkdirSync, writeFileSync } from "node:fs"
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

test("no line behind /quit is carried out, from a pipe or pasted", async () => {
  const directory = createFolder()
  const piped = startPiped({ directory })
  piped.type("/quit")
  piped.type("say never")
  piped.endInput()
  expect(await piped.exited).toBe(0)
  const pasted = startInTerminal({ directory })
  await pasted.shows(/you talk with offline\/rules/)
  pasted.press("/quit\rsay never\r")
  expect(await pasted.exited).toBe(0)
  expect(pasted.shown()).not.toContain("The turn that runs goes on")
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all"] })
  expect(stdout).toContain("No tasks yet.")
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
  expect(program.shown()).not.toContain("goes on without")
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all"] })
  expect(stdout).toMatch(/cancelled .*count to 400 slowly/)
})

test.each([
  ["/quit", "/quit\r"],
  ["the end of input", "\x04"],
])("%s during an answer leaves in peace", async (_, keys) => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("count to 8 slowly")
  await program.shows(/1 2 /)
  program.press(keys)
  await program.shows(/the answer goes on without this program, with a keeper \(pid \d+\):/)
  expect(await program.exited).toBe(0)
})

test("the lines of a subagent are labelled with its name", async () => {
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
  await program.shows(/\/greet[\s\S]*\/sessions +list the conversations/)
  const columns = [/^ {2}\/answer .*?(?=answer the)/m, /^ {2}\/tasks .*?(?=list the)/m].map(
    (usage) => usage.exec(program.shown())?.[0].length,
  )
  expect(columns).toEqual([33, 33])
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
