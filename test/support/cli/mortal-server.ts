import { afterAll, beforeAll } from "vitest"
import { startTestServer, type TestServer } from "../postgres/server.ts"

/** The lines of a program that loses its store, and finds it again. */
export const AWAY = /The store at \S+ cannot be reached[^]*Waiting for it/
export const BACK = /The store at \S+ is back, after \d+ s/

/** A server for the tests of one file, which they can kill. */
export interface MortalServer extends Pick<TestServer, "kill" | "start"> {
  /** The URL of the server's superuser and its default database. */
  url(): string
  createStore(): Promise<string>
}

export function useMortalServer(): MortalServer {
  let server: TestServer
  beforeAll(async () => {
    // Durable, so that commits survive the kill.
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
