import { createHash } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionState } from "../../plugin/sessions-port.ts"
import { DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../../task/id.ts"
import { toDescription } from "./description.ts"
import { toSessionConfig } from "./session-config.ts"
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
  const { workingDirectory = process.cwd() } = options
  let config = toSessionConfig()
  const oneAtATime = createOneAtATime()
  /** Serializes read and write, so that the read state is still true when it is written back. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => oneAtATime("folder", work)

  /** Each workspace has a folder of its own; the default one has that of the configuration. */
  function openFolder(workspace = DEFAULT_WORKSPACE): SessionFolder {
    const path = resolve(workingDirectory, config.storagePath)
    return createSessionFolder(workspace === DEFAULT_WORKSPACE ? path : join(path, toFolderName(workspace)))
  }

  const save = (state: SessionState): Promise<string> =>
    inTurn(async () => `Saved to ${await openFolder(state.workspace).write(state, config.maxKept)}.`)

  async function setDescription(directory: SessionDirectory, id: SessionId, text: string): Promise<void> {
    const folder = openFolder(directory.workspace)
    const description = toDescription(text)
    const isKnown = (await directory.load(id)) !== undefined
    if (isKnown) await directory.describe(id, description)
    const saved = await folder.read(id)
    if (saved) await folder.write({ ...saved, description }, config.maxKept)
    if (!isKnown && !saved) throw toMissing(id)
  }

  const plugin = createShelfPlugin({
    name: "session_file",
    directory: options.directory,
    save,
    configure(settings) {
      config = settings
    },
    shelfIn: (directory) => ({
      save,
      load: (id) => openFolder(directory.workspace).read(id),
      list: () => openFolder(directory.workspace).list(),
      delete: (id) =>
        inTurn(async () => {
          const wasSaved = await openFolder(directory.workspace).remove(id)
          const wasKnown = await directory.delete(id)
          return wasSaved || wasKnown
        }),
      setDescription: (id, text) => inTurn(() => setDescription(directory, id, text)),
      async open(id) {
        if (await directory.load(id)) return id
        const saved = await openFolder(directory.workspace).read(id)
        if (!saved) throw toMissing(id)
        return directory.restore(saved)
      },
    }),
    /** If the engine has the conversation, its version counts. */
    async onSessionStarted(id, directory) {
      const known = await directory.load(id)
      return known && known.messages.length > 0 ? undefined : openFolder(directory.workspace).read(id)
    },
  })

  return {
    ...plugin,
    async export(id, path) {
      const state = (await options.directory.load(id)) ?? (await openFolder().read(id))
      if (!state) throw toMissing(id)
      return exportTo(resolve(workingDirectory, path), state)
    },
    import: async (path) => options.directory.restore(await importFrom(resolve(workingDirectory, path))),
  }
}

/** Any text can be a workspace: one that is long, or not plain, becomes a digest. */
function toFolderName(workspace: WorkspaceId): string {
  if (/^\w{1,64}$/.test(workspace)) return `@${workspace}`
  return `@.${createHash("sha256").update(workspace, "utf16le").digest("hex").slice(0, 32)}`
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
