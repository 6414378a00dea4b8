import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { text } from "node:stream/consumers"
import { expect, test } from "vitest"
import type { TaskId } from "../../task/id.ts"
import { createTask, RUNNING } from "../suite/samples.ts"
import { waitUntil } from "../suite/subject.ts"
import { createEmbeddedEngine } from "./engine.ts"
import { createFolder, createTestStore } from "../../../test/support/embedded/store.ts"
import { builtProgram } from "../../../test/support/built-program.ts"

const PROGRAM = builtProgram("embedded-process")
/** A user without rights. Root can write everything, so as root the programs run as this user. */
const NOBODY = 65_534

function start(
  args: readonly string[],
  options: { readonly uid?: number } = {},
): ChildProcess & { output: Promise<string> } {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  })
  return Object.assign(child, { output: text(child.stdout) })
}

test("two processes share one store, fairly and without stalling either", async () => {
  const { engine, path, dispose } = await createTestStore()
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const child = start(["write", path, "1000"])
  await waitUntil(async () => (await engine.store.countTasks({})) > 0)
  delay.enable()
  const own: TaskId[] = []
  while (own.length < 500) {
    const written = await Promise.all(Array.from({ length: 10 }, () => createTask(engine, RUNNING)))
    own.push(...written.map(({ id }) => id))
  }
  delay.disable()
  const theirs = (await child.output).split("\n").filter((line) => line.length === own[0]?.length)
  expect(theirs).toHaveLength(1_000)
  for (const id of [...own, ...theirs]) expect(await engine.store.task(id as TaskId)).toBeDefined()
  expect(await engine.store.countTasks({})).toBe(1_500)
  expect(delay.max / 1e6).toBeLessThan(1_000)
  expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
  await dispose()
})

test("what another process writes wakes a listener here", async () => {
  const { engine, path, dispose } = await createTestStore()
  let wakes = 0
  let offers = 0
  engine.bus.subscribe(() => wakes++)
  engine.dispatcher.onOffer(() => offers++)
  const child = start(["write", path, "10"])
  await waitUntil(async () => wakes > 0 && offers > 0)
  expect(await child.output).toContain("done")
  await dispose()
})

test("a process that is killed while it writes loses nothing it was answered and blocks nobody", async () => {
  const { engine, path, dispose } = await createTestStore()
  for (let kill = 0; kill < 3; kill++) {
    const before = await engine.store.countTasks({})
    const child = start(["write", path, "endlessly"])
    await waitUntil(async () => (await engine.store.countTasks({})) > before + 50)
    child.kill("SIGKILL")
    const lines = (await child.output).split("\n").slice(0, -1)
    expect(lines.length).toBeGreaterThan(10)
    for (const id of lines) expect(await engine.store.task(id as TaskId)).toMatchObject({ lastSequence: 2 })
    await createTask(engine)
  }
  expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
  await dispose()
})

test("listening does not keep a process alive that has otherwise ended", async () => {
  const { path, remove } = await createFolder()
  const child = start(["listen", path])
  const [code] = (await once(child, "exit")) as [number]
  expect(code).toBe(0)
  expect(await child.output).toBe("done\n")
  await remove()
})

test("a store that this user cannot write is refused and left untouched", async () => {
  const { path, remove } = await createFolder()
  await (await createEmbeddedEngine({ path })).close()
  const isRoot = process.getuid?.() === 0
  const options = isRoot ? { uid: NOBODY } : {}
  const before = readFileSync(path)
  chmodSync(dirname(path), isRoot ? 0o755 : 0o555)
  chmodSync(path, isRoot ? 0o644 : 0o444)
  expect(await start(["open", path], options).output).toBe("store_read_only\n")
  expect(readFileSync(path).equals(before)).toBe(true)

  chmodSync(path, 0o666)
  expect(await start(["open", path], options).output).toBe("store_read_only\n")
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(await start(["open", join(dirname(path), "new", "store.sqlite")], options).output).toBe("store_read_only\n")

  chmodSync(dirname(path), 0o755)
  mkdirSync(join(dirname(path), "open"))
  chmodSync(join(dirname(path), "open"), 0o777)
  expect(await start(["open", join(dirname(path), "open", "store.sqlite")], options).output).toBe("done\n")
  await remove()
})
