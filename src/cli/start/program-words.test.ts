import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"
import { toProgramWords } from "./program-words.ts"

test("a hint names the store of the options, and nothing if they name none", () => {
  expect(toProgramWords({})).toBe("meanwhile")
  expect(toProgramWords({ engine: "postgres://me@db/work" })).toBe("meanwhile --engine postgres://me@db/work")
})

test.each(["a b", "it's", "$(x)", "postgres://me@db/work?sslmode=verify-full&sslrootcert=/ca.pem"])(
  "a shell reads %s as the one word that it is",
  (word) => {
    const [, ...words] = toProgramWords({ dataDir: word }).split(" ")
    const read = execFileSync("sh", ["-c", `printf '%s\\n' ${words.join(" ")}`], { encoding: "utf8" })
    expect(read).toBe(`--data-dir\n${word}\n`)
  },
)
