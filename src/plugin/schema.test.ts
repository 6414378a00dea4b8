import { runInNewContext } from "node:vm"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import * as mini from "zod/mini"
import { z as middle } from "zod-middle"
import { z as oldest } from "zod-oldest"
import { toJsonSchema } from "./json-schema.ts"
import { createSchema, describeIssues, isSchema, parse, type Schema } from "./schema.ts"

const SCHEMAS: Readonly<Record<string, Schema>> = {
  "the oldest zod 4": oldest.object({ size: oldest.number().describe("how big") }),
  "a middle zod 4": middle.object({ size: middle.number().describe("how big") }),
  "the newest zod 4": z.object({ size: z.number().describe("how big") }),
  "zod/mini": mini.object({ size: mini.number().check(mini.describe("how big")) }),
  valibot: toStandardJsonSchema(v.object({ size: v.pipe(v.number(), v.description("how big")) })),
  arktype: type({ size: type("number").describe("how big") }),
}

describe.each(Object.entries(SCHEMAS))("a schema of %s", (_, schema) => {
  it("is recognised, and checks a value", () => {
    expect(isSchema(schema)).toBe(true)
    expect(parse(schema, { size: 3 })).toEqual({ success: true, data: { size: 3 } })
    const refused = parse(schema, { size: "big" })
    if (refused.success) throw new Error("a text was taken for a number")
    expect(describeIssues(refused.issues)).toMatch(/^✖ .+\n {2}→ at size$/)
  })

  it("is told as JSON Schema, with its descriptions", () => {
    const { properties, required, ...schema_ } = toJsonSchema(schema)
    expect(schema_).toMatchObject({ type: "object" })
    expect(schema_).not.toHaveProperty("$schema")
    expect({ properties, required }).toMatchObject({
      properties: { size: { type: "number", description: expect.stringContaining("how big") } },
      required: ["size"],
    })
  })
})

it("tells what a schema takes, and hands on what it makes of that", () => {
  const schema = z.object({ at: z.string().transform((text) => text.length), by: z.number().default(3) })
  expect(toJsonSchema(schema)).toMatchObject({ properties: { at: { type: "string" } }, required: ["at"] })
  expect(parse(schema, { at: "four" })).toEqual({ success: true, data: { at: 4, by: 3 } })
})

it("names every mistake with its place, the nearest to the top first", () => {
  const refused = parse(z.object({ rows: z.array(z.object({ "a b": z.number() })), name: z.string() }), { rows: [{}] })
  if (refused.success) throw new Error("it was taken")
  const [first, second] = describeIssues(refused.issues).split("\n✖ ")
  expect(first).toMatch(/→ at name$/)
  expect(second).toMatch(/→ at rows\[0\]\["a b"\]$/)
})

it("says what to do with a schema that no model can be told", () => {
  expect(() => toJsonSchema(v.object({}))).toThrow("toStandardJsonSchema of @valibot/to-json-schema")
  const unknown: Schema = { "~standard": { version: 1, vendor: "homemade", validate: (value) => ({ value }) } }
  expect(() => toJsonSchema(unknown)).toThrow("this schema of homemade has no JSON Schema that a model could be told")
})

it("refuses a schema that answers later", () => {
  const schema = z.object({ name: z.string().refine(async () => true) })
  expect(() => parse(schema, { name: "x" })).toThrow(expect.objectContaining({ code: "invalid_input" }))
})

it("refuses a schema that answers later by a promise of another realm", () => {
  const schema = createSchema({ type: "object" }, () => runInNewContext("Promise.resolve({ issues: [] })") as never)
  expect(() => parse(schema, {})).toThrow(expect.objectContaining({ code: "invalid_input" }))
})

it("takes nothing else for a schema", () => {
  expect([undefined, null, {}, { "~standard": {} }, () => 1, "text"].filter(isSchema)).toEqual([])
})
