import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createPerson, createTestPermission, remove } from "../../../test/support/builtin/permission.ts"
import { NOT_OFFERED } from "../../plugin/tool-schema.ts"

describe("a model that asks ahead", () => {
  it("is granted one call, and no other", async () => {
    const { channel, questions } = createPerson("yes", "no")
    const { decide, askAhead } = createTestPermission({ channel: () => channel })
    const asked = { tool: "remove", reason: "it is \u001b[1mold", input: { path: "a" } }
    expect(await askAhead(asked)).toMatchObject({ isGranted: true })
    expect(questions[0]?.detail).toContain("The agent says:\n│ it is \\u{1b}[1mold")
    expect(await decide({ path: "a", isDry: false })).toEqual({ allowed: true })
    expect(await decide({ path: "b", isDry: false })).toMatchObject({ allowed: false })
  })

  it("is granted the call that will be judged, without the fields that the tool sets itself", async () => {
    const { channel } = createPerson("yes")
    const judged = z.literal(true).optional().meta(NOT_OFFERED)
    const input = z.strictObject({ path: z.string(), judged })
    const { decide, askAhead } = createTestPermission({ channel: () => channel }, { ...remove, input })
    const asked = { tool: "remove", reason: "it is old", input: { path: "a", judged: true } }
    expect(await askAhead(asked)).toMatchObject({ isGranted: true })
    expect(await decide({ path: "a" })).toEqual({ allowed: true })
  })

  it("is granted a tool for the session", async () => {
    const { channel } = createPerson("yes")
    const { decide, askAhead } = createTestPermission({ channel: () => channel })
    expect(await askAhead({ tool: "remove", reason: "tidying" })).toMatchObject({ isGranted: true })
    expect(await decide({ path: "z" })).toEqual({ allowed: true })
  })

  it("is not granted calls that a rule denies or the person refuses, or any call while no person is there", async () => {
    const denied = createTestPermission({ policy: { rules: [{ tool: "*", decision: "deny" }] } })
    expect(await denied.askAhead({ tool: "remove", reason: "x" })).toMatchObject({ isGranted: false })
    const { channel } = createPerson("no")
    expect(
      await createTestPermission({ channel: () => channel }).askAhead({ tool: "remove", reason: "x" }),
    ).toMatchObject({
      isGranted: false,
      reason: "the person said no",
    })
    expect(await createTestPermission().askAhead({ tool: "remove", reason: "x" })).toMatchObject({ isGranted: false })
    await expect(createTestPermission().askAhead({ tool: "remove", reason: "x", input: { path: 1 } })).rejects.toThrow(
      /path/,
    )
  })
})
