import { afterAll, beforeAll } from "vitest"
import { startTestServer, type TestServer } from "../postgres/server.ts"

/** What a program says of a store that it loses, and finds again. */
export const AWAY = /The store at \S+ cannot be reached[^]*Waiting for it/
export const BACK = /The store at \S+ is back, after \d+ s/

/** Of the tests of one file: a server that can be killed, and the URL of a new store on it. */
export interface MortalServer extends Pick<TestServer, "kill" | "start"> {
  /** Of its superuser and the database that is always there. */
  url(): string
  createStore(): Promise<string>
}

export function useMortalServer(): MortalServer {
  let server: TestServer
  beforeAll(async () => {
    // What was committed is still there when it was killed.
    server = await startTestServer({ isDurable: true })
  })
  afterAll(() => server.stop())
  return {
    kill: () => server.kill(),
    start: () => server.start(),
    url: () => server.url,
    createStore: async () => (await server.createDatabase()).url,
  }
}
