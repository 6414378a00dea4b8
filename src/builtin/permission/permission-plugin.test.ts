import { describe, expect, it } from "vitest"
import { z } from "zod"
import type { ToolContext } from "../../plugin/context.ts"
import type { PersonAnswer, PersonChannel, Question } from "../../plugin/person-port.ts"
import { createRegistry } from "../../plugin/registry.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import type { CommandContext } from "../../plugin/user-command.ts"
import type { SessionId } from "../../task/id.ts"
import { createPermissionPlugin, type PermissionPluginOptions } from "./permission-plugin.ts"

const SESSION = "session-1" as SessionId
const CHILD = "session-2" as SessionId
const never = new AbortController().signal

const remove: Tool = defineTool({
  name: "remove",
  description: "Removes a file.",
  input: z.object({ path: z.string(), password: z.string().optional(), isDry: z.boolean().default(false) }),
  effects: ({ isDry }) => (isDry ? [] : ["delete"]),
  preview: ({ path }) => `- ${path}`,
  run: async () => null,
})

/** Somebody who gives these answers one after the other; without any left, they are still thinking. */
function createPerson(...answers: string[]) {
  const questions: Question[] = []
  const open: ((answer: PersonAnswer) => void)[] = []
  const channel: PersonChannel = {
    name: "test",
    ask(question) {
      questions.push(question)
      const value = answers.shift()
      const { promise, resolve } = Promise.withResolvers<PersonAnswer>()
      if (value === undefined) open.push(resolve)
      else
        resolve({
          isAnswered: true,
          value: question.options?.find((option) => option.startsWith(value)) ?? value,
          by: "me",
        })
      return promise
    },
  }
  return { channel, questions, open }
}

function create(options: Partial<PermissionPluginOptions> = {}, definition: Tool = remove) {
  const parts = createPermissionPlugin({
    autoApproved: () => [],
    findTool: (name) => {
      if (name !== definition.name) throw new Error(`there is no tool ${name}`)
      return { plugin: "files", tool: definition }
    },
    ...options,
  })
  const decide = async (input: unknown, session: SessionId | null = SESSION, signal = never, more = {}) =>
    parts.permission.decide({
      call: { tool: definition.name, input, session },
      plugin: "files",
      tool: definition.name,
      input,
      definition,
      isInBackground: async () => false,
      signal,
      ...more,
    })
  const askAhead = async (input: object) => {
    const [tool] = parts.plugin.tools
    const nobody = { ask: async () => ({ isAnswered: false, reason: "nobody is there" }) as const }
    const person = options.channel?.() ?? nobody
    return tool?.run(tool.input.parse(input), { session: SESSION, signal: never, person } as unknown as ToolContext)
  }
  const type = (argument: string) =>
    parts.plugin.userCommands?.[0]?.run(argument, { session: SESSION } as unknown as CommandContext)
  return { ...parts, decide, askAhead, type }
}

describe("asking a person who is there", () => {
  it("shows tool, effects and preview, of the input what that does not show, and obeys the answer", async () => {
    const { channel, questions } = createPerson("yes", "no")
    const { decide } = create({ channel: () => channel })
    expect(await decide({ path: "a", password: "x" })).toEqual({ allowed: true })
    expect(await decide({ path: "a" })).toEqual({ allowed: false, reason: "the person said no" })
    expect(questions[0]).toMatchObject({ kind: "choice", text: "Allow remove? It deletes.", fallback: "no" })
    expect(questions[0]?.detail).toContain("Effects: delete")
    expect(questions[0]?.detail).toContain('Input: {\n  "password": "[redacted]"\n}\n- a')
    expect(questions[1]?.detail).not.toContain("Input")
  })

  it("asks nothing for a call without effects", async () => {
    const { channel, questions } = createPerson()
    expect(await create({ channel: () => channel }).decide({ path: "a", isDry: true })).toEqual({ allowed: true })
    expect(questions).toEqual([])
  })

  it("takes an answer it does not know for a no, with what was said", async () => {
    const { channel } = createPerson("only the other file")
    expect(await create({ channel: () => channel }).decide({ path: "a" })).toEqual({
      allowed: false,
      reason: "the person said no: only the other file",
    })
  })

  it("shows control characters as codes, leaves secrets out and says what is not shown", async () => {
    const { channel, questions } = createPerson("no", "no")
    const { decide } = create({ channel: () => channel, redact: (text) => text.replaceAll("s3cret", "***") })
    await decide({ path: "\u001b[2Ja\u202eb s3cret", password: "hunter2" })
    const detail = questions[0]?.detail ?? ""
    for (const hidden of ["\u001b", "\u202e", "s3cret", "hunter2"]) expect(detail).not.toContain(hidden)
    expect(detail).toContain("\\u{202e}b ***")
    await decide({ path: "x".repeat(20_000) })
    expect(questions[1]?.detail).toMatch(/\[\d+ more characters are NOT shown\]/)
  })

  it("puts one question at a time, and does not put one that an answer has settled", async () => {
    const person = createPerson()
    const { decide } = create({ channel: () => person.channel })
    const decisions = Promise.all([decide({ path: "a" }), decide({ path: "b" }), decide({ path: "c" })])
    await expect.poll(() => person.questions.length).toBe(1)
    const always = person.questions[0]?.options?.at(-1) ?? ""
    person.open[0]?.({ isAnswered: true, value: always, by: "me" })
    expect(await decisions).toEqual([{ allowed: true }, { allowed: true }, { allowed: true }])
    expect(person.questions).toHaveLength(1)
  })

  it("withdraws a question nobody needs answered any more and puts the next one", async () => {
    const person = createPerson()
    const { decide } = create({ channel: () => person.channel })
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
    expect(await create({ channel: () => silent }).decide({ path: "a" })).toMatchObject({
      allowed: false,
      reason: "nobody allowed it: they left",
    })
    const broken: PersonChannel = { name: "x", ask: () => Promise.reject(new Error("no terminal")) }
    expect(await create({ channel: () => broken }).decide({ path: "a" })).toMatchObject({
      allowed: false,
      reason: "nobody could be asked: no terminal",
    })
  })
})

describe("nobody is there", () => {
  it("leaves the question to the inbox, with an expiry", async () => {
    const decision = await create().decide({ path: "a" })
    expect(decision).toMatchObject({ allowed: "ask", question: { kind: "approval" }, expiresInMs: 86_400_000 })
    const { decide } = create({ policy: { approvalExpirySeconds: null } })
    expect(await decide({ path: "a" })).toMatchObject({ allowed: "ask", expiresInMs: null })
  })

  it("still denies what a rule denies", async () => {
    const { decide } = create({
      policy: { rules: [{ tool: "remove", arguments: { path: "/etc/*" }, decision: "deny" }] },
    })
    expect(await decide({ path: "/etc/passwd" })).toMatchObject({ allowed: false })
  })

  it("counts a tool that cannot say what it does as unknown", async () => {
    const effects = () => {
      throw new Error("no idea")
    }
    const decision = await create({}, { ...remove, effects }).decide({ path: "a" })
    expect(decision).toMatchObject({
      allowed: "ask",
      question: { detail: expect.stringContaining("Effects: unknown") },
    })
  })

  it("says why there is no preview", async () => {
    const preview = () => Promise.reject(new Error("the file is gone"))
    const decision = await create({}, { ...remove, preview }).decide({ path: "a" })
    expect(decision).toMatchObject({ question: { detail: expect.stringContaining("no preview: the file is gone") } })
  })
})

describe("what a session is allowed", () => {
  it("holds for calls alike with no further effects, in that session only", async () => {
    const { channel, questions } = createPerson("always in this session, for: docs", "no", "no", "no")
    const likenessOf = (_plugin: string, _tool: string, input: unknown) =>
      (input as { path: string }).path.split("/")[0]
    const { decide } = create({ channel: () => channel, likenessOf })
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
      const { decide, permission } = create({ channel: () => channel, policy: { inherit } })
      permission.grantParent(CHILD, SESSION)
      await decide({ path: "a" })
      expect((await decide({ path: "b" }, CHILD)).allowed).toBe(inherit)
    }
  })

  it("is shown and taken back by the person's command", async () => {
    const { channel } = createPerson("always in this session, for every", "no")
    const policy = { rules: [{ tool: "run_*", decision: "deny" as const }] }
    const { decide, type } = create({ channel: () => channel, policy })
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

describe("a model that asks ahead", () => {
  it("is granted one call, and no other", async () => {
    const { channel, questions } = createPerson("yes", "no")
    const { decide, askAhead } = create({ channel: () => channel })
    const asked = { tool: "remove", reason: "it is \u001b[1mold", input: { path: "a" } }
    expect(await askAhead(asked)).toMatchObject({ isGranted: true })
    expect(questions[0]?.detail).toContain("The agent says: it is \\u{1b}[1mold")
    expect(await decide({ path: "a", isDry: false })).toEqual({ allowed: true })
    expect(await decide({ path: "b", isDry: false })).toMatchObject({ allowed: false })
  })

  it("is granted a tool for the session", async () => {
    const { channel } = createPerson("yes")
    const { decide, askAhead } = create({ channel: () => channel })
    expect(await askAhead({ tool: "remove", reason: "tidying" })).toMatchObject({ isGranted: true })
    expect(await decide({ path: "z" })).toEqual({ allowed: true })
  })

  it("is not granted what a rule denies, what the person refuses, or anything while nobody is there", async () => {
    const denied = create({ policy: { rules: [{ tool: "*", decision: "deny" }] } })
    expect(await denied.askAhead({ tool: "remove", reason: "x" })).toMatchObject({ isGranted: false })
    const { channel } = createPerson("no")
    expect(await create({ channel: () => channel }).askAhead({ tool: "remove", reason: "x" })).toMatchObject({
      isGranted: false,
      reason: "the person said no",
    })
    expect(await create().askAhead({ tool: "remove", reason: "x" })).toMatchObject({ isGranted: false })
    await expect(create().askAhead({ tool: "remove", reason: "x", input: { path: 1 } })).rejects.toThrow(/path/)
  })
})

it("is a plugin like any other, whose own tool needs no permission", async () => {
  const registry = createRegistry()
  await registry.register(create().plugin)
  expect(registry.autoApprovedTools()).toEqual([{ plugin: "permission", tool: "askPermission" }])
})

it("refuses a policy that is not well formed and names the key", () => {
  const policy = { mode: "yolo" } as unknown as NonNullable<PermissionPluginOptions["policy"]>
  expect(() => create({ policy })).toThrow(/permissions\.mode/)
})
