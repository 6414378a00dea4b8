import { describe, expect, test } from "vitest"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"

const redactor = createRedactor({ environment: {} })
const redact = (name: string, value: string | readonly string[]) => redactor.redactJson({ [name]: value }).value

const toNames = (list: string): readonly string[] => list.trim().split(/\s+/)

/** Nothing in these values tells that they are secrets: the name does. */
const VALUE = "correct horse"

describe("the name of a field says that it holds a secret", () => {
  test.each(
    toNames(`
    password passwd passphrase Password dbPassword smtp_password newPassword PGPASSWORD
    secret client_secret clientSecret webhook-secret secrets
    apiKey api_key api-key APIKey apikey x-api-key X-Api-Key openaiApiKey
    accessKey secretAccessKey secret_key private_key privateKey encryptionKey signing_key
    accessToken access_token refresh_token refreshToken auth_token authToken id_token
    bearerToken session_token x-auth-token
    authorization Authorization proxy-authorization cookie Cookie set-cookie sessionCookie
    credential credentials awsCredentials
    OPENAI_API_KEY GITHUB_TOKEN STRIPE_KEY AWS_SECRET_ACCESS_KEY DB_PASSWORD APP_SECRET
  `),
  )("%s", (name) => {
    expect(redact(name, VALUE)).toEqual({ [name]: "[redacted]" })
  })

  test.each(["token", "githubToken", "x-token", "pass", "db_pass", "DB_PASS"])("%s, by its value", (name) => {
    for (const value of ["a1b2c3d4e5", "abcDEFghiJKL", "p@ssw*rd!"])
      expect(redact(name, value)).toEqual({ [name]: "[redacted]" })
    for (const value of ["identifier", "getElement", "the last one", "done", "a1"])
      expect(redact(name, value)).toEqual({ [name]: value })
  })

  test("each text of a list", () => {
    expect(redact("set-cookie", ["theme is dark", "id is 17"])).toEqual({ "set-cookie": ["[redacted]", "[redacted]"] })
  })
})

describe("the name of a field says nothing about a secret", () => {
  test.each(
    toNames(`
    key keys Key KEY keyboard keyName primaryKey primary_key PRIMARY_KEY sortKey
    sort_key partitionKey foreignKey cacheKey idempotencyKey publicKey PUBLIC_KEY hotkey pwd PWD
    monkey donkey turkey whiskey
    tokens tokenCount max_tokens tokenizer nextPageToken next_page_token pageToken syncToken
    continuationToken cancellationToken
    passed passenger passage bypass compass passport passwordHint password_changed_at
    secretary secretName secretRef author authority authorized accessKeyId cookieConsent
  `),
  )("%s", (name) => {
    for (const value of [VALUE, "a1b2c3d4e5", "CAESBwoFZXhhbXBsZQ"])
      expect(redact(name, value)).toEqual({ [name]: value })
  })

  test.each([
    ["credentials", "include"],
    ["credentials", "same-origin"],
    ["password", "required"],
    ["password", "string"],
    ["secret", "true"],
    ["authorization", "none"],
    ["password", "abc"],
    ["password", ""],
  ])("%s: %s", (name, value) => {
    expect(redact(name, value)).toEqual({ [name]: value })
  })

  test("a value that is no text stays, and its fields are judged by their own names", () => {
    const schema = {
      password: { type: "string", minLength: 12 },
      token: 5,
      secret: true,
      api_key: null,
      tokens: [1, 2],
    }
    expect(redactor.redactJson(schema).value).toBe(schema)
  })
})

test("a variable is known by the words of its name, and others with such letters are not", () => {
  const { redactText } = createRedactor({
    environment: {
      MONKEY: "banana-split",
      HOTKEY: "control-shift",
      DEPLOY_KEY: "plain-value",
      MYAPIKEY: "other-value",
    },
  })
  expect(redactText("banana-split control-shift plain-value other-value")).toBe(
    "banana-split control-shift [redacted] [redacted]",
  )
})
