import { z } from "zod"

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

const toLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, " ").trim()
const line = z.string().max(400).overwrite(toLine)

const address = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .refine((url) => URL.canParse(url) && new URL(url).password === "", "must not hold a password")

/** As people write it: with exactly one of `path`, `url` and `text`. */
export const referenceSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "must have letters, digits, dots, - and _ only, at most 64"),
    name: line.min(1),
    description: line.default(""),
    tags: z.array(line.min(1)).default([]),
    path: z.string().min(1).optional(),
    url: address.optional(),
    text: z.string().min(1).optional(),
  })
  .transform(({ path, url, text, ...reference }, context): Reference => {
    const sources: readonly ReferenceSource[] = [
      ...(path === undefined ? [] : [{ kind: "path" as const, path }]),
      ...(url === undefined ? [] : [{ kind: "url" as const, url }]),
      ...(text === undefined ? [] : [{ kind: "text" as const, text }]),
    ]
    const [source, another] = sources
    if (source && !another) return { ...reference, source }
    context.addIssue({ code: "custom", message: "must have exactly one of path, url and text" })
    return z.NEVER
  })

/** The section of a configuration. */
export const referencesConfigSchema = z.strictObject({
  references: z.array(referenceSchema).default([]),
  /** A folder of `*.md` files and a `references.json`, from the root. */
  directory: z.string().min(1).optional(),
})

export type ReferencesConfigInput = z.input<typeof referencesConfigSchema>
