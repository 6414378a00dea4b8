import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { findNearNames } from "../../base/near-name.ts"
import { COMMAND_NAME, type CommandFile, listCommandNames, readCommand } from "./command-folder.ts"

/** A command, or why its file cannot be used. */
export type ListedCommand = CommandFile | { readonly name: string; readonly problem: string }

export type CommandCollection = ReturnType<typeof createCommandCollection>

/** The commands of all folders. Of two with the same name, the one in the first folder wins. */
export function createCommandCollection(folders: readonly string[]) {
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
    /** The commands as their files are now, sorted by name. */
    list: async (): Promise<readonly ListedCommand[]> => {
      const names = await listNames()
      const found = await Promise.all(
        names.map((name) => find(name).catch((error: unknown) => ({ name, problem: toErrorMessage(error) }))),
      )
      return found.filter((each) => each !== undefined)
    },
    /** The command as its file is now. Refused with near names if there is none. */
    get: async (name: string): Promise<CommandFile> => {
      const found = COMMAND_NAME.test(name) ? await find(name) : undefined
      if (found) return found
      throw toUnknown(name, await listNames())
    },
  }
}

function toUnknown(name: string, names: readonly string[]): MeanwhileError {
  const near = findNearNames(name, names)
  const hint = near.length > 0 ? `Did you mean ${quoteAll(near)}?` : `There are ${quoteAll(names.slice(0, 20))}.`
  const message = `There is no command named ${JSON.stringify(name)}. ${names.length > 0 ? hint : "There is none."}`
  return new MeanwhileError("not_found", message, { near })
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => `/${name}`).join(", ")
}
