import { describe, expect, it } from "vitest"
import type { PersonChannel } from "../../plugin/person-port.ts"
import { createRegistry } from "../../plugin/registry.ts"
import { type PermissionPluginOptions } from "./permission-plugin.ts"
import { CHILD, createPerson, createTestPermission, remove, SESSION } from "../../../test/support/builtin/permission.ts"

describe("asking a person who is there", () => {
  it("shows tool, effects, preview and the rest of the input, and obeys the answer", async () => {
    const { channel, questions } = createPerson("yes", "no")
    const { decide } = createTestPermission({ channel: () => channel })
    expect(await decide({ path: "a", password: "x" })).toEqual({ allowed: true })
    expect(await decide({ path: "a" })).toEqual({ allowed: false, reason: "the person said no" })
    expect(questions[0]).toMatchObject({ kind: "choice", text: "Allow remove? It deletes.", fallback: "no" })
    expect(questions[0]?.detail).toContain("Effects: delete")
    expect(questions[0]?.detail).toContain('│ Input: {\n│   "password": "x"\n│ }\n│ - a')
    expect(questions[1]?.detail).not.toContain("Input")
  })

  it("asks nothing for a call without effects", async () => {
    const { channel, questions } = createPerson()
    expect(await createTestPermission({ channel: () => channel }).decide({ path: "a", isDry: true })).toEqual({
      allowed: true,
    })
    expect(questions).toEqual([])
  })

  it("takes an unknown answer for a no, and hands on what was said", async () => {
    const { channel } = createPerson("only the other file")
    expect(await createTestPermission({ channel: () => channel }).decide({ path: "a" })).toEqual({
      allowed: false,
      reason: "the person said no: only the other file",
    })
  })

  it("splits a no from its reason, and keeps an answer that only begins like a no as it was said", async () => {
    const { channel } = createPerson("No, use pnpm", "n: use pnpm", "no.", "no tests here")
    const { decide } = createTestPermission({ channel: () => channel })
    const reasons: unknown[] = []
    for (const path of ["a", "b", "c", "d"]) reasons.push(await decide({ path }))
    expect(reasons).toEqual(
      [
        "the person said no: use pnpm",
        "the person said no: use pnpm",
        "the person said no",
        "the person said no: no tests here",
      ].map((reason) => ({ allowed: false, reason })),
    )
  })

  it("shows control characters as codes, leaves known secrets out and shows all else", async () => {
    const { channel, questions } = createPerson("no", "no")
    const { decide } = createTestPermission({
      channel: () => channel,
      redact: (text) => text.replaceAll("s3cret", "***"),
    })
    await decide({ path: "\u001b[2Ja\u202eb s3cret", password: "s3cret" })
    const detail = questions[0]?.detail ?? ""
    for (const hidden of ["\u001b", "\u202e", "s3cret"]) expect(detail).not.toContain(hidden)
    expect(detail).toContain("\\u{202e}b ***")
    await decide({ path: "x".repeat(20_000) })
    expect(questions[1]?.detail).toContain("x".repeat(20_000))
  })

  it("puts one question at a time, and does not put one that an answer has settled", async () => {
    const person = createPerson()
    const { decide } = createTestPermission({ channel: () => person.channel })
    const decisions = Promise.all([decide({ path: "a" }), decide({ path: "b" }), decide({ path: "c" })])
    await expect.poll(() => person.questions.length).toBe(1)
    const always = person.questions[0]?.options?.at(-1) ?? ""
    person.open[0]?.({ isAnswered: true, value: always, by: "me" })
    expect(await decisions).toEqual([{ allowed: true }, { allowed: true }, { allowed: true }])
    expect(person.questions).toHaveLength(1)
  })

  it("withdraws a question whose answer is no longer needed and puts the next one", async () => {
    const person = createPerson()
    const { decide } = createTestPermission({ channel: () => person.channel })
    const unwanted = new AbortController()
    const first = decide({ path: "a" }, SESSION, unwanted.signal)
    const second = decide({ path: "b" })
    await expect.poll(() => person.questions.length).toBe(1)
    unwanted.abort()
    expect(await first).toMatchObject({ allowed: false, reason: expect.stringContaining("withdrawn") })
    await expect.poll(() => person.questions.length).toBe(2)
    person.open[1]?.({ isAnswered: true, value: "yes", by: "me" })
    expect(await second).toEqual({ allowed: true })
  })

  it("treats a person who does not answer, and a channel that fails, as a no", async () => {
    const silent: PersonChannel = { name: "x", ask: async () => ({ isAnswered: false, reason: "they left" }) }
    expect(await createTestPermission({ channel: () => silent }).decide({ path: "a" })).toMatchObject({
      allowed: false,
      reason: "nobody allowed it: they left",
    })
    const broken: PersonChannel = { name: "x", ask: () => Promise.reject(new Error("no terminal")) }
    expect(await createTestPermission({ channel: () => broken }).decide({ path: "a" })).toMatchObject({
      allowed: false,
      reason: "nobody could be asked: no terminal",
    })
  })
})

describe("nobody is there", () => {
  it("leaves the question to the inbox, with an expiry", async () => {
    const decision = await createTestPermission().decide({ path: "a" })
    expect(decision).toMatchObject({ allowed: "ask", question: { kind: "approval" }, expiresInMs: 86_400_000 })
    const { decide } = createTestPermission({ policy: { approvalExpirySeconds: null } })
    expect(await decide({ path: "a" })).toMatchObject({ allowed: "ask", expiresInMs: null })
  })

  it("still denies what a rule denies", async () => {
    const { decide } = createTestPermission({
      policy: { rules: [{ tool: "remove", arguments: { path: "/etc/*" }, decision: "deny" }] },
    })
    expect(await decide({ path: "/etc/passwd" })).toMatchObject({ allowed: false })
  })

  it("counts the effects of a tool that cannot tell them as unknown", async () => {
    const effects = () => {
      throw new Error("no idea")
    }
    const decision = await createTestPermission({}, { ...remove, effects }).decide({ path: "a" })
    expect(decision).toMatchObject({
      allowed: "ask",
      question: { detail: expect.stringContaining("Effects: unknown") },
    })
  })

  it("says why there is no preview", async () => {
    const preview = () => Promise.reject(new Error("the file is gone"))
    const decision = await createTestPermission({}, { ...remove, preview }).decide({ path: "a" })
    expect(decision).toMatchObject({ question: { detail: expect.stringContaining("no preview: the file is gone") } })
  })
})

describe("what a session is allowed", () => {
  it("holds for similar calls with no further effects, in that session only", async () => {
    const { channel, questions } = createPerson("always in this session, for: docs", "no", "no", "no")
    const likenessOf = (_plugin: string, _tool: string, input: unknown) =>
      (input as { path: string }).path.split("/")[0]
    const { decide } = createTestPermission({ channel: () => channel, likenessOf })
    expect(await decide({ path: "docs/a" })).toEqual({ allowed: true })
    expect(await decide({ path: "docs/b" })).toEqual({ allowed: true })
    expect(await decide({ path: "src/b" })).toMatchObject({ allowed: false })
    expect(await decide({ path: "docs/b" }, CHILD)).toMatchObject({ allowed: false })
    expect(await decide({ path: "docs/b" }, null)).toMatchObject({ allowed: false })
    expect(questions.at(-1)?.options).toEqual(["yes", "no"])
  })

  it("holds for a child only if the policy says so", async () => {
    for (const inherit of [true, false]) {
      const { channel } = createPerson("always in this session, for every", "no")
      const { decide, permission } = createTestPermission({ channel: () => channel, policy: { inherit } })
      permission.grantParent(CHILD, SESSION)
      await decide({ path: "a" })
      expect((await decide({ path: "b" }, CHILD)).allowed).toBe(inherit)
    }
  })

  it("is shown and taken back by the person's command", async () => {
    const { channel } = createPerson("always in this session, for every", "no")
    const policy = { rules: [{ tool: "run_*", decision: "deny" as const }] }
    const { decide, type } = createTestPermission({ channel: () => channel, policy })
    await decide({ path: "a" })
    expect(type("")).toBe(
      "Mode default: calls with an effect are asked.\nRules (deny wins, then ask):\n  deny run_*\n" +
        "Allowed in this session:\n  every call of files/remove",
    )
    expect(type("reset")).toBe("Taken back: 1. You will be asked again.")
    expect(await decide({ path: "a" })).toMatchObject({ allowed: false })
    expect(type("resett")).toContain("type permissions, or permissions reset")
  })
})

it("is a plugin like any other, whose own tool needs no permission", async () => {
  const registry = createRegistry()
  await registry.register(createTestPermission().plugin)
  expect(registry.autoApprovedTools()).toEqual([{ plugin: "permission", tool: "askPermission" }])
})

it("refuses a policy that is not well formed and names the key", () => {
  const policy = { mode: "yolo" } as unknown as NonNullable<PermissionPluginOptions["policy"]>
  expect(() => createTestPermission({ policy })).toThrow(/permissions\.mode/)
})
