import { z } from "zod"

/**
 * The parts of the configuration besides `plugins`, each with a schema that takes `{}` and fills in defaults. A section
 * that is a single value has a schema that takes `undefined` instead.
 */
export type SectionSchemas = Readonly<Record<string, z.ZodType>>
export type SectionValues<Sections extends SectionSchemas> = {
  readonly [Name in keyof Sections]: z.output<Sections[Name]>
}

/** One key of a section as its JSON Schema tells it. */
export interface SectionKey {
  readonly name: string
  readonly isText: boolean
  /** Undefined: the key has no default, and is not set. */
  readonly default: unknown
  readonly description: string
  /** The allowed values of the key, or of each entry of its list; empty if any value is allowed. */
  readonly values: readonly unknown[]
}

const propertySchema = z.looseObject({
  type: z.unknown().optional(),
  default: z.unknown().optional(),
  description: z.string().default(""),
  enum: z.array(z.unknown()).optional(),
  items: z
    .looseObject({ enum: z.array(z.unknown()).optional() })
    .optional()
    .catch(undefined),
})
const describedSchema = z.looseObject({
  properties: z.record(z.string(), propertySchema).optional(),
  /** The schema of every value of a record. */
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
})
type Described = z.output<typeof describedSchema>

/** The keys below `path` inside a section; none where any key is allowed. */
export function keysOf(schema: z.ZodType, path: readonly PropertyKey[] = []): readonly SectionKey[] {
  let described = readDescribed(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }))
  for (const key of path) described = readDescribed(stepInto(described, String(key)))
  return Object.entries(described.properties ?? {}).map(([name, property]) => ({
    name,
    isText: property.type === "string",
    default: property.default,
    description: property.description,
    values: property.enum ?? property.items?.enum ?? [],
  }))
}

/** True if a section is one value and has no keys. */
export function isSingleValue(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success && !schema.safeParse({}).success
}

function stepInto({ properties, additionalProperties, items }: Described, key: string): unknown {
  return properties && Object.hasOwn(properties, key) ? properties[key] : (additionalProperties ?? items)
}

/** The shape with keys, if a schema allows several shapes, such as an object or null. */
function readDescribed(value: unknown): Described {
  const parsed = describedSchema.safeParse(value)
  if (!parsed.success) return {}
  const { anyOf = [] } = parsed.data
  return anyOf.map(readDescribed).find(({ properties }) => properties !== undefined) ?? parsed.data
}
