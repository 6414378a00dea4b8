import { type ChildProcess, fork, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, onTestFinished, test } from "vitest"
import { openRuntime } from "../../src/app.ts"
import { MIGRATIONS } from "../../src/engine/embedded/schema/schema-changes.ts"
import { lookAtDataFolder, openDataFolder } from "../../src/program/data-folder.ts"
import { builtProgram } from "../support/built-program.ts"
import type { Step } from "../support/programs/start-in-steps.ts"
import { createFolder } from "../support/workplace.ts"

const STEPS: readonly Step[] = ["looked", "opened", "noted", "migrated", "completed", "started"]

interface Place {
  readonly dataDirectory: string
  readonly homeDirectory: string
}

/** A person with a data folder. */
function createPerson() {
  const root = createFolder()
  const place: Place = { dataDirectory: join(root, ".meanwhile"), homeDirectory: join(root, "home") }
  mkdirSync(place.homeDirectory)

  /** Starts as a program of the person does. Fails if the folder is refused. */
  async function open() {
    const options = { ...place, environment: {}, trust: false, notify: expect.fail }
    const { refusal, onStoreOpened } = await openDataFolder(options)
    expect(refusal).toBeNull()
    return (await openRuntime({ dataDirectory: place.dataDirectory }, onStoreOpened)).runtime
  }

  return {
    place,
    open,
    async openAndClose(): Promise<void> {
      await (await open()).close()
    },
    /** Another program of the person, which stands still at this step of its start. */
    async startUntil(step: Step): Promise<ChildProcess> {
      const child = fork(builtProgram("start-in-steps"), [place.dataDirectory, place.homeDirectory, step])
      onTestFinished(() => void child.kill("SIGKILL"))
      const exited = once(child, "exit").then(() => expect.fail(`The program ended before it was ${step}.`))
      exited.catch(() => {})
      const [reached] = await Promise.race([once(child, "message"), exited])
      expect(reached).toBe(step)
      return child
    },
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit")
  child.kill("SIGKILL")
  await exited
}

describe.each(STEPS)("F1. A program that stands still, or is killed, in its start once it was %s", (step) => {
  test("in a new folder bars no other program of the person from it", async () => {
    const { openAndClose, startUntil } = createPerson()
    const child = await startUntil(step)
    await openAndClose()
    await openAndClose()
    await kill(child)
    await openAndClose()
  })

  test("in a known folder bars no other one either, whatever others have open", async () => {
    const { open, openAndClose, startUntil } = createPerson()
    await openAndClose()
    const child = await startUntil(step)
    const beside = await open()
    await openAndClose()
    await kill(child)
    await openAndClose()
    await beside.close()
    await openAndClose()
  })

  test("in a known folder of an earlier version bars no other one either", async () => {
    const { openAndClose, startUntil, place } = createPerson()
    await openAndClose()
    takeIdAway(place)
    await kill(await startUntil(step))
    await openAndClose()
    await openAndClose()
  })

  test("in a known folder whose last program was killed bars no other one either", async () => {
    const { openAndClose, startUntil } = createPerson()
    await kill(await startUntil("started"))
    const child = await startUntil(step)
    await kill(child)
    await openAndClose()
    await kill(await startUntil(step))
    await kill(await startUntil(step))
    await openAndClose()
  })
})

test("F1. A program that looks while others end and start is told of no replacement", async () => {
  const { place, startUntil } = createPerson()
  await kill(await startUntil("started"))
  const noted: string[] = []
  // Between the look at the files and the look at the note, somebody closes the store, and somebody else opens it.
  const environment = new Proxy<Record<string, string>>(
    {},
    {
      get() {
        if (noted.length > 0) return undefined
        for (const step of [[], ["started"]]) noted.push(runAsPerson(place, step))
        return undefined
      },
    },
  )
  const { trust } = await lookAtDataFolder({ ...place, environment, notify: expect.fail })
  expect({ trust, noted }).toMatchObject({ trust: "known", noted: ["ended", "was killed"] })
})

const LAST_WITHOUT_ID = 8
const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"

/** Leaves store and note as they were before stores had ids. */
function takeIdAway({ dataDirectory, homeDirectory }: Place): void {
  const database = new DatabaseSync(join(dataDirectory, "store.sqlite"))
  database.exec("PRAGMA foreign_keys = OFF")
  for (const { name } of database.prepare(TABLES).all()) database.exec(`DROP TABLE "${String(name)}"`)
  for (const statements of MIGRATIONS.slice(0, LAST_WITHOUT_ID)) database.exec(statements)
  database.exec(`PRAGMA user_version = ${LAST_WITHOUT_ID}`)
  database.close()
  const notes = join(homeDirectory, ".meanwhile", "data-folders")
  for (const name of readdirSync(notes)) {
    const { storeId: _, ...note } = JSON.parse(readFileSync(join(notes, name), "utf8"))
    writeFileSync(join(notes, name), JSON.stringify(note))
  }
}

function runAsPerson({ dataDirectory, homeDirectory }: Place, step: readonly string[]): string {
  const parameters = [builtProgram("start-in-steps"), dataDirectory, homeDirectory, ...step]
  const { signal, status, stderr } = spawnSync(process.execPath, parameters, { encoding: "utf8", timeout: 60_000 })
  if (signal === "SIGKILL") return "was killed"
  return status === 0 ? "ended" : stderr
}
