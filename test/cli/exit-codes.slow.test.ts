import { expect, test } from "vitest"
import { runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"
import { useMortalServer } from "../support/cli/mortal-server.ts"

const server = useMortalServer()

test("Ctrl+C stops followed output before its end, and the exit code tells it", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("/start echo begun; sleep 1000")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  const following = startPiped({ directory, arguments: ["tasks", "output", id, "--follow"] })
  await following.shows(/^begun$/m)
  following.kill("SIGINT")
  expect(await following.exited).toBe(3)
  expect(following.shown()).toBe("begun\n")
  const whole = await runToEnd({ directory, arguments: ["tasks", "output", id] })
  expect(whole).toMatchObject({ exitCode: 0, stdout: "begun\n" })
})

test("Ctrl+C stops followed output even while the store is away", async () => {
  const engine = await server.createStore()
  const chat = startPiped({ directory: createFolder(), arguments: ["--engine", engine] })
  chat.type("/start echo begun; sleep 1000")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  const words = ["tasks", "output", id, "--follow", "--engine", engine]
  const following = startPiped({ directory: createFolder(), arguments: words })
  await following.shows(/^begun$/m)
  await server.kill()
  await following.shows(/Waiting for it; /)
  following.kill("SIGINT")
  expect(await following.exited, following.shown()).toBe(3)
  expect(following.shown()).toMatch(/\nmeanwhile: stopped while the store is away\n$/)
})

test("a prompt that no model could read is refused as bad usage, and no conversation is left or named", async () => {
  const directory = createFolder()
  const run = (words: readonly string[], input = "") => runToEnd({ directory, arguments: ["run", ...words] }, input)
  const long = "word ".repeat(100_000)
  const refused = await run(["-"], long)
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
  expect(refused.stderr).toMatch(/^meanwhile: The message is too long: .* shorten it\.\n$/)
  const told = await run(["-", "--json"], long)
  expect(told.exitCode).toBe(2)
  expect(JSON.parse(told.stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
    type: "result",
    outcome: "refused",
    error: expect.stringContaining("too long"),
    session: null,
    turn: null,
  })
  expect((await runToEnd({ directory, arguments: ["tasks", "list", "--all"] })).stdout).toMatch(/^No tasks yet/)

  const [session] = /run --session [0-9a-f]{8}/.exec((await run(["say hello"])).stderr) ?? [""]
  const again = await run(["-", ...session.split(" ").slice(1)], long)
  expect(again.exitCode).toBe(2)
  expect(again.stderr).toContain(`to go on: meanwhile ${session}`)
})
