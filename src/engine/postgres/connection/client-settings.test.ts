import { afterEach, expect, test, vi } from "vitest"
import { toClientSettings } from "./client-settings.ts"

afterEach(() => vi.unstubAllEnvs())

test.each(["postgres://user:12/secret@host/database", "postgres://user:12#secret@host/database"])(
  "a password that ends where the host should begin is not taken for the name of a database: %s",
  (url) => {
    vi.stubEnv("PGUSER", "somebody")
    expect(() => toClientSettings({ url })).toThrow(/cannot be read.*as %-codes/)
  },
)

test("the name of a store for people contains neither password nor parameters", () => {
  const { server, role } = toClientSettings({ url: "postgres://user:se%2Fcret@host/database?application_name=x" })
  expect([server, role]).toEqual(["host:5432/database", "user"])
})
