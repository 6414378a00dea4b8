import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onTestFinished } from "vitest"
import { createFileEditPlugin, type FileEditPluginOptions } from "../../../src/builtin/file_edit/file-edit-plugin.ts"
import type { JsonValue } from "../../../src/base/json.ts"
import { actFreely, type ToolContext } from "../../../src/plugin/context.ts"
import { type Tool, isToolReturn, contentOf } from "../../../src/plugin/tool.ts"
import { textOf } from "../../../src/plugin/message.ts"
import type { SessionId } from "../../../src/task/id.ts"
import { parsed } from "../plugin/parsed.ts"

/** The plugin over a folder of its own, with files outside that nobody may reach. */
export function createDesk(options: Partial<FileEditPluginOptions> = {}) {
  const folder = createTestFolder()
  const root = join(folder, "root")
  const outside = join(folder, "outside")
  for (const each of [root, outside]) mkdirSync(each)
  writeFileSync(join(outside, "secret.txt"), "secret\n")
  const backupDirectory = join(folder, "backups")
  const open = () => createFileEditPlugin({ root, backupDirectory, ...options })
  let plugin = open()
  const find = (name: string): Tool => {
    const tool = plugin.tools.find((each) => each.name === name)
    if (!tool) throw new Error(`there is no tool ${name}`)
    return tool
  }
  return {
    folder,
    root,
    outside,
    backupDirectory,
    /** Opens the plugin anew, as after a restart: what it kept in memory is lost. */
    reopen: () => {
      plugin = open()
    },
    put: (path: string, content: string | Uint8Array) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    get: (path: string) => readFileSync(join(root, path), "utf8"),
    preview: async (name: string, input: unknown) => {
      const tool = find(name)
      return tool.preview?.(parsed(tool.input, input))
    },
    call: async (name: string, input: unknown, session = "talk"): Promise<JsonValue> => {
      const tool = find(name)
      const context = { session: session as SessionId, act: actFreely } as unknown as ToolContext
      return toPayload(await tool.run(parsed(tool.input, input), context))
    },
  }
}

/** A folder that is removed after the test. */
export function createTestFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-files-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function toPayload(returned: Awaited<ReturnType<Tool["run"]>>): JsonValue {
  if (!isToolReturn(returned) || !("patch" in returned)) throw new Error("the tool did not hand back a patch")
  const content = contentOf(returned.patch.payload)
  return content ? textOf({ role: "user", parts: content }) : returned.patch.payload
}
