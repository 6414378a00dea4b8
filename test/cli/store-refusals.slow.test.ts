import { expect, onTestFinished, test } from "vitest"
import { runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"
import { createCarefulRole } from "../support/cli/careful-role.ts"
import { useMortalServer } from "../support/cli/mortal-server.ts"

const server = useMortalServer()

test("a program waits for a store that is away at the start, and says so", async () => {
  const url = await server.createStore()
  await server.kill()
  const words = ["--engine", url] as const
  const looks = runToEnd({ directory: createFolder(), arguments: ["tasks", ...words] })
  const [worker, another] = [
    startPiped({ directory: createFolder(), arguments: ["worker", ...words] }),
    startPiped({ directory: createFolder(), arguments: ["worker", ...words] }),
  ]
  const run = startPiped({ directory: createFolder(), arguments: ["run", "say hello", ...words] })
  run.endInput()
  await worker.shows(/does not answer yet\. Waiting for it, up to 60 s/)
  await another.shows(/does not answer yet/)
  another.kill("SIGINT")
  expect(await another.exited).toBe(3)
  expect(another.shown()).toMatch(/up to 60 s\.\nWorker \d+ has stopped while it waited for its store\..*\n$/)
  await run.shows(/does not answer yet/)
  run.kill("SIGINT")
  expect(await run.exited).toBe(3)
  expect(run.shown()).toMatch(/meanwhile: stopped by a signal; nothing was said yet\n$/)
  const refused = await looks
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
  expect(refused.stderr).toMatch(/does not answer yet\. Waiting for it, up to 5 s\.\nmeanwhile: .*cannot be reached/)
  await server.start()
  await worker.shows(/takes tasks from/)
  worker.kill("SIGINT")
  expect(await worker.exited, worker.shown()).toBe(0)
})

test.each(["tasks", "doctor", "migrate", "ledger", ""])(
  "`meanwhile %s` says what it waited for when it is stopped while its store is away",
  async (command) => {
    const url = await server.createStore()
    await server.kill()
    onTestFinished(server.start)
    const words = [...(command === "" ? [] : [command]), "--engine", url]
    const program = startPiped({ directory: createFolder(), arguments: words })
    await program.shows(/does not answer yet\. Waiting for it, up to 5 s\.\n/)
    program.kill("SIGINT")
    expect(await program.exited).toBe(3)
    expect(program.shown()).toMatch(/\nmeanwhile: stopped while it waited for the store\n$/)
  },
)

test("a missing or wrong password is refused at once", async () => {
  const url = await server.createStore()
  await createCarefulRole(server.url(), "hunter2")
  const careful = url.replace("postgres@", "careful@")
  const look = (environment: Record<string, string> = {}) =>
    runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", careful], environment })
  const [without, wrong] = await Promise.all([look(), look({ PGPASSWORD: "opensesame" })])
  expect(without).toMatchObject({ exitCode: 2, stdout: "" })
  expect(without.stderr).toMatch(/^meanwhile: The store at \S+ asks for a password, and none was given\./)
  expect(wrong).toMatchObject({ exitCode: 2, stdout: "" })
  expect(wrong.stderr).toMatch(/^meanwhile: The store at \S+ refuses the user or the password\./)
  expect(wrong.stderr).not.toContain("opensesame")
})

test("a URL with an impossible TLS mode or number of connections is refused with what to write instead", async () => {
  const url = await server.createStore()
  const look = async (query: string) =>
    (await runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", `${url}?${query}`] })).stderr
  const [unknown, missing, none, few] = await Promise.all([
    look("sslmode=sometimes"),
    look("sslmode=verify-full&sslrootcert=/nowhere/ca.pem"),
    look("sslmode=verify-full"),
    look("pool_size=1"),
  ])
  expect(unknown).toMatch(/^meanwhile: The sslmode in the URL .* verify-full/)
  expect(missing).toMatch(/^meanwhile: .* names the file \/nowhere\/ca\.pem.*ENOENT.*sslrootcert/)
  expect(none).toMatch(/^meanwhile: .* does not speak TLS/)
  expect(few).toMatch(/^meanwhile: The pool_size in the URL .* from 4 to 100/)
})
