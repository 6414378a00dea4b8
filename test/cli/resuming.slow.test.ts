import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { allEnded } from "../support/processes.ts"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder, toTestMarker } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

/** Two chats of one conversation: the first has an answer, while the second says something. */
async function speakInto(counting: string) {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("say we begin")
  await first.shows(/^we begin$/m)
  const second = startInTerminal({ directory, arguments: ["--resume"] })
  await second.shows(/Going on with/)
  first.type(counting)
  await first.shows(/1 2 3/)
  second.type("say afterwards")
  return { first, second }
}

test("after a crash a person is greeted before the report that is due, which is the main agent's and told once", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, environment: QUICK })
  first.type("run `until test -e go; do sleep 0.05; done; echo found it`")
  await first.shows(/moved to the background[\s\S]*context \d+ %/)
  // A command is handled once the turn's end is kept.
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

test("--resume goes on with the last conversation, and /resume with any", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("say remember this")
  first.endInput()
  await first.exited
  const second = startPiped({ directory, arguments: ["--resume"] })
  second.type("/context")
  await second.shows(/2 messages, 1 turn\n/)
  second.endInput()
  await second.exited
  const third = startPiped({ directory })
  third.type("/context")
  await third.shows(/0 messages, 0 turns\n/)
  third.type("/resume 1")
  await third.shows(/Going on with/)
  third.type("/context")
  await third.shows(/2 messages, 1 turn\n/)
  third.type("/reset")
  third.type("/context")
  await third.shows(/0 messages/)
  third.endInput()
  expect(await third.exited).toBe(0)
})

test("a turn that a kill cut off goes on at the next start by itself, and its answer is shown with its session", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("count to 12 slowly")
  await first.shows(/1 2 /)
  first.kill("SIGKILL")
  await first.exited
  const second = startPiped({ directory })
  await second.shows(/A turn from before goes on: count to 12 slowly \(session [0-9a-f]{8}\)/)
  second.type("say meanwhile")
  await second.shows(/meanwhile\n/)
  second.endInput()
  expect(await second.exited).toBe(0)
  expect(second.shown()).toMatch(/session [0-9a-f]{8} │ .*11 12/)
})

test("a chat can be left at once, even while a turn from before goes on", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("count to 80 slowly")
  await first.shows(/1 2 /)
  first.kill("SIGKILL")
  await first.exited
  const second = startPiped({ directory })
  await second.shows(/A turn from before goes on: count to 80 slowly/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
  expect(second.shown()).toMatch(/the answer goes on without this program, with a keeper \(pid \d+\):/)
})

test("a turn that ends in the first moment of the next start is shown, too", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("run `sleep 8; echo never`, then say all is told")
  await first.shows(/run_command/)
  first.kill("SIGKILL")
  await first.exited
  const second = startPiped({ directory })
  await second.shows(/session [0-9a-f]{8} │ .*interrupted/)
  await second.shows(/session [0-9a-f]{8} │ all is told/)
  second.endInput()
  expect(await second.exited).toBe(0)
})

test("a chat that is told to end in mid-answer leaves soon, and its answer is there at the next start", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("count to 24 slowly")
  await first.shows(/1 2 /)
  first.kill("SIGTERM")
  await first.shows(/the answer goes on without this program, with a keeper/)
  expect(await first.exited).toBe(0)
  await allEnded(toTestMarker(directory))
  const second = startInTerminal({ directory, arguments: ["--resume"] })
  await second.shows(/> count to 24 slowly\s[^]*1 2 [^]*23 24\s/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
})

test("an unknown id for --resume, and an unknown model, are refused with what to do", async () => {
  const directory = createFolder()
  const unknown = startPiped({ directory, arguments: ["--resume", "zzz"] })
  expect(await unknown.exited).toBe(2)
  expect(unknown.shown()).toMatch(/^meanwhile: There is no session zzz\. /)
  const nobody = startPiped({ directory, arguments: ["--model", "nobody/knows"] })
  expect(await nobody.exited).toBe(2)
  expect(nobody.shown()).toMatch(/^meanwhile: There is no provider for the model "nobody\/knows"\. /)
})

test("a message waits while another chat has an answer in the same conversation, and is heard then", async () => {
  const { first, second } = await speakInto("count to 24 slowly")
  await second.shows(/\(queued: another program answers in this conversation,/)
  await second.shows(/[\r\n]afterwards\r\n[^]*tokens/)
  // The first message, the counting and the later message: nothing is missing in between.
  second.type("/context")
  await second.shows(/6 messages, 3 turns/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
  await first.shows(/23 24/)
  first.endInput()
  expect(await first.exited).toBe(0)
  expect(second.shown()).not.toContain("is busy")
})

test("Ctrl+C stops the answer of another chat that a message waits for, which is heard then", async () => {
  const { first, second } = await speakInto("count to 400 slowly")
  await second.shows(/\(queued: another program/)
  second.press("\x03")
  await second.shows(/[\r\n]afterwards\r\n/)
  await first.shows(/the turn was stopped/)
  second.type("/quit")
  expect(await second.exited).toBe(0)
  first.endInput()
  expect(await first.exited).toBe(0)
})
