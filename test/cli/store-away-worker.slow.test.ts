import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"
import { AWAY, BACK, useMortalServer } from "../support/cli/mortal-server.ts"

const server = useMortalServer()

/** Starts a worker that runs a command, in a folder of its own. */
async function startWork(command: string) {
  const [url, folder] = [await server.createStore(), createFolder()]
  const shell = createShellPlugin({ workingDirectory: folder, environment: {} })
  const desk = await createRuntime({ engine: url, takesWork: false, dataDirectory: createFolder(), plugins: [shell] })
  onTestFinished(() => desk.close().catch(() => {}))
  const { id } = await desk.tasks.start({ tool: "run_command", input: { command } })
  const worker = startPiped({ directory: folder, arguments: ["worker", "--verbose", "--engine", url] })
  await worker.shows(/run taken/)
  return { desk, worker, id, folder }
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : ""
}

test("a worker says once that its store is away and once that it is back, and its command runs to its end", async () => {
  const { desk, worker, id, folder } = await startWork("while [ ! -f end ]; do sleep 0.1; done")
  await server.kill()
  await worker.shows(AWAY)
  writeFileSync(join(folder, "end"), "")
  await server.start()
  await worker.shows(BACK)
  expect((await desk.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(worker.shown().match(/cannot be reached/g)).toHaveLength(1)
  expect(worker.shown().match(/is back, after/g)).toHaveLength(1)
  worker.kill("SIGINT")
  expect(await worker.exited).toBe(0)
})

test("Ctrl+C ends a worker and its command while the store is away", async () => {
  const { worker, folder } = await startWork("echo $$ > pid; exec sleep 1000")
  const pid = Number(await eventually("it runs", () => readIfThere(join(folder, "pid"))))
  await server.kill()
  onTestFinished(server.start)
  await worker.shows(AWAY)
  worker.kill("SIGINT")
  expect(await worker.exited).toBe(3)
  expect(worker.shown()).toMatch(/has stopped\. Its store is away/)
  // Even a verbose worker does not write about connections that are being closed.
  expect(worker.shown()).not.toMatch(/trying again/)
  await eventually("its process is gone", () => !isAlive(pid))
})

test("a worker that is stopped while its store is away says that once, and not which calls failed for it", async () => {
  const worker = startPiped({
    directory: createFolder(),
    arguments: ["worker", "--engine", await server.createStore()],
  })
  await worker.shows(/takes tasks from/)
  await server.kill()
  onTestFinished(server.start)
  await worker.shows(AWAY)
  const told = worker.shown().trimEnd()
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(3)
  const since = worker.shown().slice(told.length).trim()
  expect(since).toMatch(/^Worker \d+ has stopped\. Its store is away: others take over what it ran\.$/)
})
