import { expect, test } from "vitest"
import { toOwnerCommand } from "./owner-command.ts"

const URL_OF_MEMBER =
  "postgresql://member:hunter2@db:5433/work?sslmode=verify-full&sslrootcert=/etc/ca.pem&password=hunter2"

test("the owner's command names the server and its TLS as one word of a shell, and no password", () => {
  const command = toOwnerCommand(`${URL_OF_MEMBER}&sslkey=/home/member/key.pem`, "the owner", "odd role")
  const url = "postgres://the%20owner@db:5433/work?sslmode=verify-full&sslrootcert=/etc/ca.pem"
  expect(command).toBe(`meanwhile migrate --engine '${url}' --grant 'odd role'`)
})

test("an unknown owner is left to be filled in, and nothing is granted unasked", () => {
  expect(toOwnerCommand("postgres://db/work", null, null)).toBe("meanwhile migrate --engine postgres://OWNER@db/work")
})
