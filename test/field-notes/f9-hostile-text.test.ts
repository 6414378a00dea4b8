import { expect, test } from "vitest"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"
import { measureComputingMs } from "../support/computing-time.ts"

const redactor = createRedactor({ environment: {} })
const CHARACTERS = 4_000_000
const fill = (piece: string): string => piece.repeat(Math.ceil(CHARACTERS / piece.length))
/** Plain text takes a tenth of it. To look ahead from each line again took three seconds. */
const LONGEST_MS = 1_500

test.each([
  "-----BEGIN PRIVATE KEY-----\n",
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n",
  "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
  "-----END PRIVATE KEY-----\n",
  "password='",
  "--a-token ",
  "token=aaaa&",
  "eyJaaaaaaaa.",
  "sk-1",
  "://a:b@",
])("F9. Four megabytes of %j do not hold the process for longer than plain text would", (piece) => {
  const text = fill(piece)
  const tookMs = measureComputingMs(() => {
    redactor.redactText(text)
    redactor.redactShown(text)
  })
  expect(tookMs).toBeLessThan(LONGEST_MS)
})

test("F9. A private key is found between any number of beginnings and ends", () => {
  const begin = "-----BEGIN RSA PRIVATE KEY-----"
  const end = "-----END RSA PRIVATE KEY-----"
  const key = `${begin}\nMIIE\n${end}`
  expect(redactor.redactText(`a ${key} b ${key} c`)).toBe("a [redacted] b [redacted] c")
  expect(redactor.redactText(`${end} a ${begin}${begin}, MIIE, ${end} b`)).toBe(`${end} a [redacted] b`)
  expect(redactor.redactText(`a ${begin}\nMIIE, ${"x".repeat(15_000)} ${key}`)).toBe(
    `a [redacted], ${"x".repeat(15_000)} [redacted]`,
  )
  expect(redactor.redactText(`a ${begin}\nMIIE\nAAAA== - b`)).toBe("a [redacted]- b")
})
