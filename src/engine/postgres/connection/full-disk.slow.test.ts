import { expect, onTestFinished, test, vi } from "vitest"
import { eventually } from "../../../../test/support/eventually.ts"
import { startProxy } from "../../../../test/support/postgres/proxy.ts"
import { insertThing, useThings } from "../../../../test/support/postgres/things.ts"
import { expectRefusal } from "../../suite/subject.ts"
import type { Database, DatabaseOptions } from "./database.ts"
import { openDatabase } from "./open-database.ts"

const things = useThings()

const FULL = /^The store at \S+ cannot grow: its disk is full\. .* Waiting for it/
const BACK = /^The store at \S+ is back, after \d+ s\.$/

/** The disk has no room for a thing whose id begins with `large`, for as long as the test says so. */
const REFUSE_LARGE = `
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE 'No space left on device' USING ERRCODE = '53100';
  END $$;
  CREATE TRIGGER refuse BEFORE INSERT ON things FOR EACH ROW WHEN (NEW.id LIKE 'large%') EXECUTE FUNCTION refuse()`

async function openFull(options: Partial<DatabaseOptions>) {
  const lines: string[] = []
  const away: boolean[] = []
  const database: Database = await openDatabase({
    url: things.url,
    tell: (line) => void lines.push(line),
    onAway: (isAway) => void away.push(isAway),
    ...options,
  })
  await things.database.query(REFUSE_LARGE)
  const makeRoom = () => things.database.query("DROP FUNCTION IF EXISTS refuse() CASCADE")
  onTestFinished(async () => {
    await makeRoom()
    await database.close()
  })
  const insert = (size: "large" | "small") =>
    database.transaction((query) => query(insertThing, [`${size}/${crypto.randomUUID()}`]))
  return { lines, away, makeRoom, insert }
}

test("a disk that has room for a small transaction is not back while a large one waits for it", async () => {
  const { lines, away, makeRoom, insert } = await openFull({ patienceMs: Number.POSITIVE_INFINITY })
  const large = insert("large")
  await eventually("it is told", () => lines.length > 0)
  for (let round = 0; round < 3; round++) await insert("small")
  expect(lines).toEqual([expect.stringMatching(FULL)])
  expect(away).toEqual([true])
  await makeRoom()
  await large
  expect(lines).toEqual([expect.stringMatching(FULL), expect.stringMatching(BACK)])
  expect(away).toEqual([true, false])
})

test("a server with a full disk that goes away and can be reached again is not back before it takes the write", async () => {
  await using proxy = await startProxy(things.url)
  const { lines, away, makeRoom, insert } = await openFull({
    url: proxy.url,
    patienceMs: Number.POSITIVE_INFINITY,
  })
  const large = insert("large")
  await eventually("it is told", () => lines.length > 0)
  proxy.onRequest = () => "cut"
  await eventually("it is away", () => away.length === 2)
  proxy.onRequest = () => "pass"
  await eventually("it can be reached", () => away.length === 3)
  expect(lines).toEqual([expect.stringMatching(FULL)])
  await makeRoom()
  await large
  expect(lines).toEqual([expect.stringMatching(FULL), expect.stringMatching(BACK)])
  expect(away.at(-1)).toBe(false)
})

test("a disk is not back while large transactions are given up, and its end is told once none was for a minute", async () => {
  const { lines, away, insert } = await openFull({ patienceMs: 1_100 })
  await expectRefusal(insert("large"), "disk_full")
  await insert("small")
  await expectRefusal(insert("large"), "disk_full")
  expect(lines).toEqual([expect.stringMatching(FULL)])
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  await insert("small")
  expect(away).toEqual([true, false, true, false])
  vi.advanceTimersByTime(59_999)
  expect(lines).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(lines).toEqual([expect.stringMatching(FULL), expect.stringMatching(BACK)])
})
