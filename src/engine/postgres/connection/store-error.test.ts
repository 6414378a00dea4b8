import { expect, test } from "vitest"
import { toOwnerCommand } from "./owner-command.ts"
import { toStoreError, toTrouble } from "./store-error.ts"

const STORE = {
  server: "db:5432/work",
  role: "ada",
  toOwnerCommand: (grantTo: string | null) =>
    toOwnerCommand("postgres://ada:hunter2@db:5432/work?password=hunter2", "owner", grantTo),
}

test("a missing password is refused at once, in plain words, and not retried for a minute", () => {
  const error = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string")
  expect(toTrouble(error)).toMatchObject({ kind: "refused" })
  const told = String(toStoreError(error, STORE))
  expect(told).toContain("asks for a password, and none was given")
  expect(told).not.toContain("SASL")
})

test("a role that lacks a right is told which command gives it", () => {
  const error = Object.assign(new Error("permission denied for table tasks"), { code: "42501" })
  const told = String(toStoreError(error, STORE))
  expect(told).toContain(
    "Run `meanwhile migrate --engine postgres://owner@db:5432/work --grant ada` as the role that owns the store.",
  )
  expect(told).toContain("(permission denied for table tasks)")
})
