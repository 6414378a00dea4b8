import { z } from "zod"

/** The parts of the configuration besides `plugins`, each with a schema that takes `{}` and fills in defaults. */
export type SectionSchemas = Readonly<Record<string, z.ZodType>>
export type SectionValues<Sections extends SectionSchemas> = {
  readonly [Name in keyof Sections]: z.output<Sections[Name]>
}

/** One key of a section as its JSON Schema tells it. */
export interface SectionKey {
  readonly name: string
  readonly isText: boolean
  /** Undefined: it has none, and is not set. */
  readonly default: unknown
  readonly description: string
}

const propertySchema = z.looseObject({
  type: z.unknown().optional(),
  default: z.unknown().optional(),
  description: z.string().default(""),
})
const describedSchema = z.looseObject({ properties: z.record(z.string(), propertySchema).optional() })

/** The keys below `path` inside a section; none where any key is allowed. */
export function keysOf(schema: z.ZodType, path: readonly PropertyKey[] = []): readonly SectionKey[] {
  let described: unknown = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  for (const key of path) {
    const parsed = describedSchema.safeParse(described)
    described = parsed.success ? parsed.data.properties?.[String(key)] : undefined
  }
  const parsed = describedSchema.safeParse(described)
  const properties = parsed.success ? (parsed.data.properties ?? {}) : {}
  return Object.entries(properties).map(([name, { type, default: fallback, description }]) => ({
    name,
    isText: type === "string",
    default: fallback,
    description,
  }))
}
