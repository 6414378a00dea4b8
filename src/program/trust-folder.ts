import type { Variables } from "../base/environment.ts"
import { loadConfig } from "../config/load-config.ts"
import type { TrustStore } from "../config/trust-store.ts"
import { CONFIG_SPELLINGS, configSections } from "../config-sections.ts"
import { lookAtFolder, openTrustStore, type ProgramFolder } from "./folder.ts"
import { INSTRUCTION_FILES, lookAtInstructions } from "./instruction-files.ts"

export interface TrustFolderOptions {
  readonly workingDirectory: string
  readonly environment: Variables
  /** Default: the person's own. */
  readonly homeDirectory?: string
  readonly trustStore?: TrustStore
}

export interface TrustedNow {
  readonly directory: string
  /** Empty if there was nothing to trust. */
  readonly files: readonly string[]
  /** Why files with instructions cannot be trusted, a line for each. */
  readonly problems: readonly string[]
}

/** Trusts what the folder brings along, and each file with instructions, as they are now. */
export async function trustFolder(options: TrustFolderOptions): Promise<TrustedNow> {
  const { homeDirectory, trustStore = openTrustStore(homeDirectory) } = options
  const folder = await lookAtFolder({ ...options, trustStore })
  const { contents, trust } = folder
  const found = await lookAtInstructions(folder, await namesOf(folder, options), trustStore)
  const instructions = found.flatMap((file) => ("contents" in file ? [file.contents] : []))
  const trusted = [...(trust === "empty" ? [] : [contents]), ...instructions]
  for (const each of trusted) await trustStore.trust(each)
  return {
    directory: contents.directory,
    files: trusted.flatMap(({ files }) => files),
    problems: found.flatMap((file) => ("problem" in file ? [`${file.name} is not trusted: ${file.problem}`] : [])),
  }
}

/** The configuration may name other files. It is run only if it was trusted before. */
async function namesOf(
  { contents: { directory }, trust }: ProgramFolder,
  { environment }: TrustFolderOptions,
): Promise<readonly string[]> {
  if (trust !== "trusted") return INSTRUCTION_FILES
  const program = { sections: configSections(), spellings: CONFIG_SPELLINGS }
  const { values } = await loadConfig({ ...program, directory, isTrusted: true, environment })
  return values.instructionFiles
}
