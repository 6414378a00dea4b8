import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { toDescription } from "./description.ts"
import { type SessionConfig, toSessionConfig } from "./session-config.ts"
import { parseFileText, toFileText } from "./session-file.ts"
import { createSessionFolder, type SessionFolder } from "./session-folder.ts"
import { createShelfPlugin } from "./shelf-plugin.ts"
import { createWholeFile } from "./whole-file.ts"

export interface FileSessionPlugin extends SessionPlugin {
  /** Writes the conversation to a new file; returns its path. */
  export(id: SessionId, path: string): Promise<string>
  /** Makes a conversation of an exported file; returns its id, which is a new one if the file's id is taken. */
  import(path: string): Promise<SessionId>
}

export interface FileSessionPluginOptions {
  readonly directory: SessionDirectory
  /** The folder that relative paths start from. Default: the process's working directory. */
  readonly workingDirectory?: string
}

/**
 * Keeps the last conversations in files, beside the engine: to carry them elsewhere, or where the engine keeps nothing.
 */
export function createFileSessionPlugin(options: FileSessionPluginOptions): FileSessionPlugin {
  const { directory, workingDirectory = process.cwd() } = options
  let config = toSessionConfig()
  let folder = openFolder(config)
  const oneAtATime = createOneAtATime()
  /** Serializes read and write, so that the read state is still true when it is written back. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => oneAtATime("folder", work)

  function openFolder({ storagePath }: SessionConfig): SessionFolder {
    return createSessionFolder(resolve(workingDirectory, storagePath))
  }

  async function setDescription(id: SessionId, text: string): Promise<void> {
    const description = toDescription(text)
    const isKnown = (await directory.load(id)) !== undefined
    if (isKnown) await directory.describe(id, description)
    const saved = await folder.read(id)
    if (saved) await folder.write({ ...saved, description }, config.maxKept)
    if (!isKnown && !saved) throw toMissing(id)
  }

  const plugin = createShelfPlugin({
    name: "session_file",
    configure(settings) {
      config = settings
      folder = openFolder(settings)
    },
    shelf: {
      save: (state) => inTurn(async () => `Saved to ${await folder.write(state, config.maxKept)}.`),
      load: (id) => folder.read(id),
      list: () => folder.list(),
      delete: (id) =>
        inTurn(async () => {
          const wasSaved = await folder.remove(id)
          const wasKnown = await directory.delete(id)
          return wasSaved || wasKnown
        }),
      setDescription: (id, text) => inTurn(() => setDescription(id, text)),
      async open(id) {
        if (await directory.load(id)) return id
        const saved = await folder.read(id)
        if (!saved) throw toMissing(id)
        return directory.restore(saved)
      },
    },
    /** If the engine has the conversation, its version counts. */
    async onSessionStarted(id) {
      const known = await directory.load(id)
      return known && known.messages.length > 0 ? undefined : folder.read(id)
    },
  })

  return {
    ...plugin,
    async export(id, path) {
      const state = (await directory.load(id)) ?? (await folder.read(id))
      if (!state) throw toMissing(id)
      return exportTo(resolve(workingDirectory, path), state)
    },
    import: async (path) => directory.restore(await importFrom(resolve(workingDirectory, path))),
  }
}

async function exportTo(path: string, state: SessionState): Promise<string> {
  try {
    await createWholeFile(path, toFileText(state))
    return path
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error
    throw new MeanwhileError("invalid_input", `${path} exists already and is left as it is. Choose another name.`)
  }
}

async function importFrom(path: string): Promise<SessionState> {
  const text = await readRegularFile(path).catch((error: unknown) => {
    throw new MeanwhileError(
      "invalid_input",
      `${path} cannot be imported: ${toErrorMessage(error)}`,
      {},
      { cause: error },
    )
  })
  const state = parseFileText(text, path)
  return { ...state, description: toDescription(state.description ?? "") || null }
}

async function readRegularFile(path: string): Promise<string> {
  if (!(await stat(path)).isFile()) throw new Error("it is no file. Name a file that was exported.")
  return readFile(path, "utf8")
}

function toMissing(id: SessionId): MeanwhileError {
  return new MeanwhileError("not_found", `There is no conversation ${id}, neither here nor in a file.`)
}
