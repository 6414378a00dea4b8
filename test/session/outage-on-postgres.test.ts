import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { describe, test, type TestContext } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { type Proxy, startProxy } from "../support/postgres/proxy.ts"
import { toErrorResponse } from "../support/postgres/refusal.ts"
import { createTestDatabase, START_PATIENCE_MS } from "../support/postgres/server.ts"
import { playOutage, WHOLE } from "../support/session/outage-scenario.ts"

/** Every transaction that writes ends with a mark: while the switch is on, that mark fails as on a full disk. */
const SWITCH = `
  CREATE TABLE meanwhile.switch (state text);
  CREATE FUNCTION meanwhile.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM meanwhile.switch) THEN RAISE 'No space left on device' USING ERRCODE = '53100'; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON meanwhile.commit_marks EXECUTE FUNCTION meanwhile.refuse()`

const STARTING = toErrorResponse("57P03", "the database system is starting up")
const REFUSALS: readonly { readonly name: string; readonly onRequest: Proxy["onRequest"] }[] = [
  { name: "cuts every connection", onRequest: () => "cut" },
  { name: "lets nobody in (57P03)", onRequest: (data) => (data.includes("user\0") ? STARTING : "cut") },
]

async function play(
  context: TestContext,
  url: string,
  { refuse, allow }: { refuse: () => Promise<unknown>; allow: () => Promise<unknown> },
): Promise<readonly string[]> {
  const told: string[] = []
  const tell = (line: string): void => void told.push(line)
  const dataDirectory = mkdtempSync(join(tmpdir(), "meanwhile-outage-"))
  context.onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }))
  const report = await playOutage({
    told,
    dataDirectory,
    open: (options) =>
      createRuntime({
        ...options,
        engine: url,
        storeWait: { tell, startPatienceMs: START_PATIENCE_MS },
      }),
    refuse,
    allow,
  })
  context.expect(report).toEqual(WHOLE)
  return told
}

// Together, because a person is told only after a second.
describe.concurrent("a server that takes no writes from the middle of a turn on loses nothing, and is told once", () => {
  test("with a full disk (53100)", async (context) => {
    await using place = await createTestDatabase()
    const admin = new pg.Client(place.url)
    await admin.connect()
    await admin.query(SWITCH)
    const told = await play(context, place.url, {
      refuse: () => admin.query("INSERT INTO meanwhile.switch VALUES ('full')"),
      allow: () => admin.query("DELETE FROM meanwhile.switch"),
    })
    await admin.end()
    context
      .expect(told)
      .toEqual([
        context.expect.stringMatching(/its disk is full.*Waiting for it/),
        context.expect.stringMatching(/is back, after \d+ s/),
      ])
  })

  test.for(REFUSALS)("when it $name", async ({ onRequest }, context) => {
    await using place = await createTestDatabase()
    await using proxy = await startProxy(place.url)
    const told = await play(context, proxy.url, {
      refuse: async () => void (proxy.onRequest = onRequest),
      allow: async () => void (proxy.onRequest = () => "pass"),
    })
    context
      .expect(told)
      .toEqual([
        context.expect.stringMatching(/cannot be reached.*Waiting for it/),
        context.expect.stringMatching(/is back, after \d+ s/),
      ])
  })
})
