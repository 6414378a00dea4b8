import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { findNearNames } from "../../base/near-name.ts"
import { COMMAND_NAME, type CommandFile, listCommandNames, readCommand } from "./command-folder.ts"

/** A command, or why its file cannot be used. */
export type ListedCommand = CommandFile | { readonly name: string; readonly problem: string }

/** The commands of all folders. In two of the same name the first folder wins. */
export interface CommandCollection {
  /** As they are now, by name. */
  list(): Promise<readonly ListedCommand[]>
  /** As its file is now. Refused with near names when there is none. */
  get(name: string): Promise<CommandFile>
}

export function createCommandCollection(folders: readonly string[]): CommandCollection {
  async function find(name: string): Promise<CommandFile | undefined> {
    for (const folder of folders) {
      const found = await readCommand(folder, name)
      if (found) return found
    }
    return undefined
  }
  async function listNames(): Promise<readonly string[]> {
    const names = await Promise.all(folders.map(listCommandNames))
    return [...new Set(names.flat())].toSorted()
  }
  return {
    list: async () => {
      const names = await listNames()
      const found = await Promise.all(
        names.map((name) => find(name).catch((error: unknown) => ({ name, problem: toErrorMessage(error) }))),
      )
      return found.filter((each) => each !== undefined)
    },
    get: async (name) => {
      const found = COMMAND_NAME.test(name) ? await find(name) : undefined
      if (found) return found
      throw toUnknown(name, await listNames())
    },
  }
}

function toUnknown(name: string, names: readonly string[]): MeanwhileError {
  const near = findNearNames(name, names)
  const shown = near.length > 0 ? near : names.slice(0, 20)
  const hint =
    near.length > 0
      ? `Did you mean ${quoteAll(shown)}?`
      : names.length > 0
        ? `There are ${quoteAll(shown)}.`
        : "There is none."
  return new MeanwhileError("not_found", `There is no command named ${JSON.stringify(name)}. ${hint}`, { near })
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => `/${name}`).join(", ")
}
