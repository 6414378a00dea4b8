import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { createBackgroundPlugin, VOCABULARIES } from "../../src/builtin/background/background-plugin.ts"
import { createClarificationPlugin } from "../../src/builtin/clarification/clarification-plugin.ts"
import { createFileEditPlugin } from "../../src/builtin/file_edit/file-edit-plugin.ts"
import { createHybridGc, createSummarizeGc, createTruncateGc } from "../../src/builtin/gc/gc-plugin.ts"
import { createMultimodalPlugin } from "../../src/builtin/multimodal/multimodal-plugin.ts"
import { createOfflineProvider } from "../../src/builtin/offline/offline-provider.ts"
import { createPermissionPlugin } from "../../src/builtin/permission/permission-plugin.ts"
import { createReferencesPlugin } from "../../src/builtin/references/references-plugin.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { createSlashCommandPlugin } from "../../src/builtin/slash_command/slash-command-plugin.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { createTodoPlugin } from "../../src/builtin/todo/todo-plugin.ts"
import { createWebPlugin } from "../../src/builtin/web/web-plugin.ts"
import { findPluginProblems } from "../../src/plugin/define-plugin.ts"
import type { Plugin } from "../../src/plugin/plugin.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const throwing = (): never => {
  throw new Error("no tool is looked for")
}

/** Each plugin, by the file that declares it. */
const PLUGINS: Readonly<Record<string, () => Plugin | readonly Plugin[]>> = {
  "background/background-plugin.ts": () =>
    Object.keys(VOCABULARIES).map((vocabulary) =>
      createBackgroundPlugin({ vocabulary: vocabulary as keyof typeof VOCABULARIES }),
    ),
  "clarification/clarification-plugin.ts": () => createClarificationPlugin(),
  "file_edit/file-edit-plugin.ts": () => createFileEditPlugin({ root, backupDirectory: root }),
  "gc/gc-plugin.ts": () => [createHybridGc(), createSummarizeGc(), createTruncateGc()],
  "multimodal/multimodal-plugin.ts": () => createMultimodalPlugin({ root }),
  "offline/offline-provider.ts": () => createOfflineProvider(),
  "permission/permission-plugin.ts": () =>
    createPermissionPlugin({ autoApproved: () => [], findTool: throwing }).plugin,
  "references/references-plugin.ts": () => createReferencesPlugin({ root, documents: [] }),
  "shell/shell-plugin.ts": () => createShellPlugin({ workingDirectory: root, environment: {} }),
  "slash_command/slash-command-plugin.ts": () => createSlashCommandPlugin({ directories: [] }),
  "subagent/subagent-plugin.ts": () => createSubagentPlugin(),
  "todo/todo-plugin.ts": () => createTodoPlugin(),
  "web/web-plugin.ts": () => createWebPlugin(),
}

test.each(Object.entries(PLUGINS))("%s declares a plugin without mistakes", (_file, create) => {
  expect([create()].flat().map((plugin) => findPluginProblems(plugin))).toEqual([create()].flat().map(() => []))
})

test("every file that declares a built-in plugin is in the list", () => {
  const folder = `${root}/src/builtin`
  const files = globSync("**/*.ts", { cwd: folder }).filter((file) =>
    readFileSync(`${folder}/${file}`, "utf8").match(/ defineBuiltin[<(]/),
  )
  expect(files.toSorted()).toEqual(Object.keys(PLUGINS).toSorted())
})
