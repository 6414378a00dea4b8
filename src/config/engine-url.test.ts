import { expect, test } from "vitest"
import { checkEngineFlag, findUrlProblem, toShownUrl } from "./engine-url.ts"

const SECRET = "hunter2"

test.each([
  [`postgres://me:${SECRET}@db.example.com:6432/work`, "postgres://me@db.example.com:6432/work"],
  [`postgresql://me:${SECRET}%40%2F@host/work?sslmode=verify-full`, "postgresql://me@host/work"],
  [`postgres://host/work?user=me&password=${SECRET}`, "postgres://host/work"],
  ["postgres://me@host/work", "postgres://me@host/work"],
  ["postgres:///work", "postgres:///work"],
])("%s is shown without its password", (url, shown) => {
  expect(findUrlProblem(url)).toBeUndefined()
  expect(toShownUrl(url)).toBe(shown)
})

test.each([
  "",
  "host/work",
  `mysql://me:${SECRET}@host/work`,
  `postgres://me:${SECRET}@[/work`,
  // A password that was not written with %-codes would be taken for a port, a path or a parameter.
  `postgres://me:1/${SECRET}@host/work`,
  `postgres://me:1?${SECRET}@host/work`,
  `postgres://me:1#${SECRET}@host/work`,
])("%s is no URL of a store, and nothing of it is shown", (text) => {
  expect(findUrlProblem(text)).toMatch(/postgres:\/\/user@host:port\/database/)
  expect(toShownUrl(text)).toBe("postgres://…")
  expect(() => checkEngineFlag(text)).toThrow("The value of --engine ")
})

test.each(["postgres://me@host", "postgres://me@host/", `postgres://me:${SECRET}@host:5432/?sslmode=require`])(
  "%s is refused, because it names no database",
  (url) => {
    expect(findUrlProblem(url)).toMatch(/^names no database\. .*postgres:\/\/user@host:port\/database$/)
    expect(() => checkEngineFlag(url)).toThrow("The value of --engine names no database")
  },
)

test.each([
  `postgres://me:${SECRET}@host/work`,
  ...["password", "PASSWORD", "passwd", "pwd", "sslpassword", "oauth_client_secret", "scram_client_key", "token"].map(
    (name) => `postgres://me@host/work?sslmode=verify-full&${name}=${SECRET}`,
  ),
])("%s as a flag is refused, with what to do instead", (url) => {
  const refuse = () => checkEngineFlag(url)
  expect(refuse).toThrow(/--engine postgres:\/\/me@host\/work .*PGPASSWORD.*pgpass.*MEANWHILE_ENGINE.*configuration/)
  expect(refuse).not.toThrow(SECRET)
})

test("a flag may name files in which secrets are", () => {
  const url = "postgres://me@host/work?sslmode=verify-full&sslkey=/keys/me.pem&passfile=/home/me/.pgpass"
  expect(() => checkEngineFlag(url)).not.toThrow()
})
