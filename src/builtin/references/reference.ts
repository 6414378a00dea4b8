import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { toOneLine } from "../../base/one-line.ts"

/** Where the content of a reference is. */
export type ReferenceSource =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "text"; readonly text: string }

/** Something worth knowing that a conversation can take in by its id. */
export interface Reference {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly source: ReferenceSource
}

const line = z.string().max(400).overwrite(toOneLine)

const address = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .refine((url) => URL.canParse(url) && new URL(url).password === "", "must not hold a password")

/** A reference as people write it: with exactly one of `path`, `url` and `text`. */
const writtenSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "must have letters, digits, dots, - and _ only, at most 64"),
    name: line.min(1),
    description: line.default(""),
    tags: z.array(line.min(1)).default([]),
    path: z.string().min(1).optional(),
    url: address.optional(),
    text: z.string().min(1).optional(),
  })
  .refine(
    ({ path, url, text }) => [path, url, text].filter((source) => source !== undefined).length === 1,
    "must have exactly one of path, url and text",
  )
type WrittenReference = z.output<typeof writtenSchema>

export const referenceSchema = lazily(() => writtenSchema.transform(toReference))

/** The section `references` of the configuration. */
export const referencesConfigSchema = z.strictObject({
  documents: z
    .array(writtenSchema)
    .default([])
    .describe("Documents worth knowing: id, name, description, tags, and one of path, url and text."),
  directory: z
    .string()
    .min(1)
    .optional()
    .describe("A folder of *.md files and a references.json, from the working directory."),
})

export type ReferencesConfigInput = z.input<typeof referencesConfigSchema>

export function toReference({ path, url, text, ...reference }: WrittenReference): Reference {
  if (path !== undefined) return { ...reference, source: { kind: "path", path } }
  if (url !== undefined) return { ...reference, source: { kind: "url", url } }
  return { ...reference, source: { kind: "text", text: text ?? "" } }
}
