import { copyFile, mkdir, rename, rm, symlink } from "node:fs/promises"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { createFolder } from "../../../test/support/embedded/store.ts"
import type { Engine } from "../../task/engine.ts"
import { createTask } from "../suite/samples.ts"
import { expectRefusal } from "../suite/subject.ts"
import { createEmbeddedEngine } from "./engine.ts"

const LOOK_EVERY_MS = 1_000

let folder: Awaited<ReturnType<typeof createFolder>>
let engine: Engine
let told: string[]

beforeEach(async () => {
  folder = await createFolder()
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  told = []
  const tell = (line: string): void => void told.push(line)
  const { path } = folder
  await (await createEmbeddedEngine({ path })).close()
  await copyFile(path, `${path}.copy`)
  engine = await createEmbeddedEngine({ path, synchronous: "normal", tell })
  await createTask(engine)
})

afterEach(async () => {
  await engine.close()
  vi.useRealTimers()
  await folder.remove()
})

/** Every open engine looks. */
const look = (times = 1): void => void vi.advanceTimersByTime(times * LOOK_EVERY_MS)

interface Harm {
  readonly name: string
  readonly harm: (path: string) => Promise<unknown>
  readonly says: string
}

const DELETIONS: readonly Harm[] = [
  { name: "was deleted", harm: (path) => rm(path), says: "was deleted" },
  { name: "was deleted with its folder", harm: (path) => rm(dirname(path), { recursive: true }), says: "was deleted" },
  { name: "was replaced", harm: (path) => rename(`${path}.copy`, path), says: "was replaced by another file" },
]

describe.each(DELETIONS)("a store that $name while it is open", ({ harm, says }) => {
  test("answers no commit from that moment on, and names the file and what to do", async () => {
    await harm(folder.path)
    await expectRefusal(createTask(engine), "store_gone")
    await mkdir(dirname(folder.path), { recursive: true })
    await expectRefusal(createTask(engine), "store_gone")
    await expectRefusal(engine.store.countTasks({}), "store_gone")
    expect(told).toEqual([expect.stringContaining(`The store ${folder.path} ${says} while this program had it open.`)])
  })

  test("is noticed while nothing is written", async () => {
    await harm(folder.path)
    look()
    expect(told).toEqual([expect.stringContaining(says)])
  })
})

test("a store over which an earlier copy was written is noticed, and answers no commit from then on", async () => {
  // The first look puts the entry of this process into the file.
  look()
  expect(countEntries(folder.path)).toBe(1)
  await copyFile(`${folder.path}.copy`, folder.path)
  look()
  expect(told).toEqual([])
  look()
  expect(told).toEqual([expect.stringContaining("was overwritten with other content")])
  await expectRefusal(createTask(engine), "store_gone")
})

test("a store whose log is deleted is noticed", async () => {
  await rm(`${folder.path}-wal`)
  look()
  expect(told).toHaveLength(1)
  await expectRefusal(createTask(engine), "store_gone")
})

test("a store that other programs open, use and close is there", async () => {
  const open = () => createEmbeddedEngine({ path: folder.path, synchronous: "normal" })
  const another = await open()
  await createTask(another)
  look()
  expect(countEntries(folder.path)).toBe(2)
  await another.close()
  const third = await open()
  await createTask(third)
  // The first look of the third puts into the file that the second has ended.
  look()
  expect(countEntries(folder.path)).toBe(2)
  await createTask(engine)
  look(2)
  await third.close()
  expect(told).toEqual([])
})

test("a store whose path cannot be followed for a while is there", async () => {
  look()
  expect(countEntries(folder.path)).toBe(1)
  const directory = dirname(folder.path)
  await rename(directory, `${directory}-away`)
  await symlink(directory, directory)
  look(4)
  await rm(directory)
  await rename(`${directory}-away`, directory)
  await createTask(engine)
  expect(told).toEqual([])
})

/** In the file itself, past the log. */
function countEntries(path: string): number {
  const url = pathToFileURL(path)
  url.searchParams.set("immutable", "1")
  using file = new DatabaseSync(url, { readOnly: true })
  return Number(file.prepare("SELECT count(*) AS count FROM attachments").get()?.["count"])
}
