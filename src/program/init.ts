import { rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { MeanwhileError } from "../base/error.ts"
import { findConfigFile } from "../config/config-file.ts"
import { adviseEsModule } from "../config/es-module.ts"
import { isSingleValue, keysOf } from "../config/section.ts"
import { configSections, SECTION_SUMMARIES } from "../config-sections.ts"
import { type FolderOptions, lookAtFolder, openTrustStore } from "./folder.ts"

const CONFIG_NAME = "meanwhile.config.ts"

export interface InitOptions extends Pick<FolderOptions, "homeDirectory" | "trustStore"> {
  readonly directory: string
  /** True to replace an existing `meanwhile.config.ts`. */
  readonly force: boolean
}

export interface InitResult {
  readonly path: string
  /** False if the folder holds more that the person has not trusted, and that they have not been shown. */
  readonly isTrusted: boolean
  /** Tells the person how to let Node load the file. Undefined if Node can. */
  readonly advice: string | undefined
}

/** Writes a configuration with every key, all of them commented out, and trusts it if that trusts nothing else. */
export async function initFolder(options: InitOptions): Promise<InitResult> {
  const { directory, force, trustStore = openTrustStore(options.homeDirectory) } = options
  const request = { ...options, workingDirectory: directory, trustStore }
  const existing = await findConfigFile(directory)
  if (existing && !(force && existing.name === CONFIG_NAME)) throw toExisting(directory, existing.name)
  const { trust, contents } = await lookAtFolder(request)
  const isAlone = contents.files.every((file) => file === CONFIG_NAME)
  const path = join(directory, CONFIG_NAME)
  await writeWhole(path, renderConfig())
  const advice = adviseEsModule(path)
  if (trust !== "trusted" && !isAlone) return { path, isTrusted: false, advice }
  await trustStore.trust((await lookAtFolder(request)).contents)
  return { path, isTrusted: true, advice }
}

/** The file's text: it changes nothing until a line loses its `//`. */
export function renderConfig(): string {
  const sections = Object.entries(configSections()).map(([name, schema]) => {
    if (isSingleValue(schema)) return `  /** ${summaryOf(name)} */\n  // ${name}: ${toSource(schema.parse(undefined))},`
    const keys = keysOf(schema).flatMap((key) => [
      ...(key.description === "" ? [] : [`    /** ${key.description} */`]),
      `    // ${key.name}: ${toSource(key.default)},${describeValues(key)}`,
    ])
    const body = keys.length === 0 ? [`  ${name}: {},`] : [`  ${name}: {`, ...keys, "  },"]
    return [`  /** ${summaryOf(name)} */`, ...body].join("\n")
  })
  return `import type { ConfigInput } from "meanwhile"

// Every key stands here with its default. Take the // away from what you want to change.
// Meanwhile asks before it loads a file that has changed, or run: meanwhile trust
export default {
${sections.join("\n\n")}

  /** ${SECTION_SUMMARIES.plugins} */
  // plugins: [],
} satisfies ConfigInput
`
}

/** This text stays a comment when the key before it is uncommented. */
function describeValues({ values, default: fallback }: ReturnType<typeof keysOf>[number]): string {
  if (values.length === 0) return ""
  return ` // ${Array.isArray(fallback) ? "any" : "one"} of ${values.map(toSource).join(", ")}`
}

function summaryOf(name: string): string {
  return (SECTION_SUMMARIES as Readonly<Record<string, string>>)[name] ?? ""
}

function toSource(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toSource).join(", ")}]`
  return value === undefined ? "undefined" : JSON.stringify(value)
}

/** Writes the whole file or nothing. A link of that name is replaced, not followed. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
  try {
    await writeFile(draft, text, { flag: "wx" })
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

function toExisting(directory: string, name: string): MeanwhileError {
  const fix = name === CONFIG_NAME ? "Use --force to replace it." : "Remove it first: a folder has one configuration."
  return new MeanwhileError("invalid_input", `${join(directory, name)} already exists and was not changed. ${fix}`)
}
