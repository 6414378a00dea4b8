import { expect, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { createTask } from "../suite/samples.ts"
import { createEmbeddedEngine } from "./engine.ts"
import { createFolder } from "../../../test/support/embedded/store.ts"

test("another process's writes are noticed at the interval for being alone, then at the one for sharing", async () => {
  const { path, remove } = await createFolder()
  const clock = createManualClock()
  const intervals = { pollAloneMs: 250, pollSharedMs: 20 }
  const engine = await createEmbeddedEngine({ path, clock, ...intervals })
  let wakes = 0
  const stop = engine.bus.subscribe(() => wakes++)
  const other = await createEmbeddedEngine({ path })
  clock.advance(249)
  expect(wakes).toBe(0)
  clock.advance(1)
  expect(wakes).toBe(1)
  await createTask(other)
  clock.advance(20)
  expect(wakes).toBe(2)
  clock.advance(1_000)
  expect(wakes).toBe(2)
  await other.close()
  clock.advance(20)
  expect(wakes).toBe(3)
  stop()
  await createTask(engine)
  clock.advance(1_000)
  expect(wakes).toBe(3)
  await engine.close()
  await remove()
})

test("rows of dead processes are removed when the store is opened", async () => {
  const { path, remove } = await createFolder()
  const dead = await createEmbeddedEngine({ path, holder: { name: "dead" } })
  const isHolderAlive = ({ name }: { name?: unknown }) => (name === "dead" ? false : undefined)
  const clock = createManualClock()
  const engine = await createEmbeddedEngine({ path, clock, isHolderAlive, pollAloneMs: 250, pollSharedMs: 20 })
  let wakes = 0
  const stop = engine.bus.subscribe(() => wakes++)
  await createTask(dead)
  clock.advance(249)
  expect(wakes).toBe(0)
  clock.advance(1)
  expect(wakes).toBe(1)
  stop()
  await Promise.all([dead.close(), engine.close()])
  await remove()
})

test("listeners may come and go after the engine was closed", async () => {
  const { path, remove } = await createFolder()
  const clock = createManualClock()
  const engine = await createEmbeddedEngine({ path, clock })
  const stops = [engine.bus.subscribe(() => undefined), engine.dispatcher.onOffer(() => undefined)]
  await engine.close()
  clock.advance(10_000)
  engine.bus.subscribe(() => undefined)()
  for (const stop of stops) expect(stop).not.toThrow()
  await remove()
})
