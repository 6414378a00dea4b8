import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"
import { assertProperty } from "../support/assert-property.ts"
import { measureComputingMs } from "../support/computing-time.ts"
import { createTestSpool, readAll } from "../support/spool.ts"

const DIGITS = "0123456789"
/** Put together here, so that nobody's scanner takes this file for a leak. */
const SECRETS = [
  `sk-${"a1B2c3D4e5F6g7H8i9J0"}`,
  `sk-ant-api03-${"a1B2-c3D4_e5F6g7H8i9J0"}`,
  `AKIA${"IOSFODNN7EXAMPLE"}`,
  `ghp_${"abcdefghijklmnopqrstuvwxyz0123456789"}`,
  `gho_${"abcdefghijklmnopqrstuvwxyz0123456789"}`,
  `github_pat_${"11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"}`,
  `xoxb-${"123456789012-abcdefghijkl"}`,
  `AIza${"SyA-abcdefghijklmnopqrstuvwxyz01234"}`,
  `glpat-${"abcdefghij-klmnopqrst"}`,
  `npm_${"abcdefghijklmnopqrstuvwxyz0123456789"}`,
  `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJ${"zdWIiOiIxMjM0NTY3ODkwIn0"}.${"dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"}`,
  `-----BEGIN RSA PRIVATE KEY-----\n${`${DIGITS.repeat(6)}\n`.repeat(40)}-----END RSA PRIVATE KEY-----`,
]

describe("B7. Secrets (known key shapes, values of secret-looking environment variables, auth headers) are redacted", () => {
  const environment = { MY_API_KEY: "plain-value-9", DB_PASSWORD: "päss wörd ünd", HOME: "/home/me", SHORT_KEY: "abc" }
  const redactor = createRedactor({ environment })

  test.each(SECRETS.map((secret) => [secret.slice(0, 8), secret]))("%s…", (_, secret) => {
    expect(redactor.redactText(`before ${secret} after`)).toBe("before [redacted] after")
    expect(redactor.redactText(`"${secret}"`)).toBe('"[redacted]"')
  })

  test.each([
    ["Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted]"],
    ["authorization: abcdef123", "authorization: [redacted]"],
    ["-H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='", "-H 'Authorization: Basic [redacted]'"],
    ["Bearer abcdefghijklmnop", "Bearer [redacted]"],
    ["https://user:pa55word@example.org/x", "https://user:[redacted]@example.org/x"],
    ["postgres://app:s3cr3t@db/app", "postgres://app:[redacted]@db/app"],
    ["password=hunter2 user=me", "password=[redacted] user=me"],
    ["?api_key=abcd1234&x=1", "?api_key=[redacted]&x=1"],
    ['{"client_secret": "abcd"}', '{"client_secret": "[redacted]"}'],
    ["export GITHUB_TOKEN=abcdefg", "export GITHUB_TOKEN=[redacted]"],
    ["value plain-value-9 and päss wörd ünd", "value [redacted] and [redacted]"],
    ["encoded p%C3%A4ss%20w%C3%B6rd%20%C3%BCnd", "encoded [redacted]"],
  ])("%s", (text, redacted) => {
    expect(redactor.redactText(text)).toBe(redacted)
  })

  test.each([
    "Compiled 42 modules in 3.14s",
    "const token = getToken()",
    "password: string",
    "max_tokens=4096",
    "the task-management system and a desk-1234567890123456",
    "http://localhost:3000/path",
    "git@github.com:owner/repository.git",
    "/home/me abc",
    "sk-learn-is-a-library-of-python",
  ])("nothing is taken out of: %s", (text) => {
    expect(redactor.redactText(text)).toBe(text)
  })

  test("values are changed where they hold one, and are otherwise the same object", () => {
    const clean = { command: "ls", nested: [{ cwd: "/tmp", count: 3, flag: null }] }
    expect(redactor.redactJson(clean)).toEqual({ value: clean, hasChanged: false })
    expect(redactor.redactJson(clean).value).toBe(clean)
    const input = { env: { OPENAI_API_KEY: "anything", PATH: "/bin" }, password: "x1y2", list: ["plain-value-9"] }
    expect(redactor.redactJson(input)).toEqual({
      value: { env: { OPENAI_API_KEY: "[redacted]", PATH: "/bin" }, password: "[redacted]", list: ["[redacted]"] },
      hasChanged: true,
    })
    expect(input.list[0]).toBe("plain-value-9")
  })

  test("text that is made to be slow to check is not slow", () => {
    const hostile = [
      "eyJ-sk-ghp_password=token=bearer github_pat_://a:b",
      "-----BEGIN PRIVATE KEY-----",
      "://a:",
      "sk-a-",
    ]
    for (const piece of hostile) {
      const text = Buffer.from(piece.repeat(100_000 / piece.length))
      expect(measureComputingMs(() => redactor.redactBytes(text))).toBeLessThan(2_000)
    }
  })
})

describe("B7. Output is redacted on every read, in its length, whatever offsets are asked for", () => {
  const environment = { SERVICE_TOKEN: "tökén-välue-1234" }
  /** What a run prints, and the part of it that nobody may see. */
  const printed = [
    ...SECRETS.map(
      (secret) => [secret.slice(0, 12), secret, secret.includes("\n") ? DIGITS : secret.slice(-9)] as const,
    ),
    ["a value", environment.SERVICE_TOKEN, environment.SERVICE_TOKEN] as const,
    ["a password in an address", "https://user:pa55word@example.org", "pa55word"] as const,
    ["a header", "Authorization: Bearer abcdefgh12345678", "abcdefgh12345678"] as const,
  ]

  test.each(printed)("%s… in any piece", async (_, shown, secret) => {
    const { run } = createTestSpool({ environment })
    const text = `${"filler line\n".repeat(20)}here: ${shown} end\n${"more\n".repeat(20)}`
    run.write(text)
    const whole = await readAll(run)
    expect(Buffer.byteLength(whole)).toBe(Buffer.byteLength(text))
    expect(whole).toContain("*".repeat(8))
    expect(whole).not.toContain(secret)
    await assertProperty(
      fc.asyncProperty(fc.nat(text.length), fc.integer({ min: 4, max: 90 }), async (offset, limitBytes) => {
        const chunk = await run.read({ offset, limitBytes }, { isComplete: true })
        expect(chunk.text).toBe(Buffer.from(whole).toString("utf8", chunk.offset, chunk.nextOffset))
      }),
      { numRuns: 40 },
    )
  })

  test.each(printed)("%s… while it is being printed", async (_, shown, secret) => {
    const { run } = createTestSpool({ environment })
    let seen = ""
    let offset = 0
    for (const byte of Buffer.from(`key ${shown}`).subarray(0, 300)) {
      run.write(new Uint8Array([byte]))
      const chunk = await run.read({ offset })
      offset = chunk.nextOffset
      seen += chunk.text
    }
    run.write(" end\n")
    seen += (await run.read({ offset })).text
    expect(seen).toContain("key ")
    // The beginning by which a key is known gives nothing away.
    for (let start = 0; start + 5 <= secret.length; start++) expect(seen).not.toContain(secret.slice(start, start + 5))
  })
})
