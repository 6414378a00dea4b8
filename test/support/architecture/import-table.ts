/** `*` allows everything inside `src`. */
const EVERYTHING = "*"

export interface Layer {
  /** Folders, and top-level files, of `src` that this one may import beside itself. */
  readonly imports: readonly string[]
  /** Packages this one may import. A package comes into the list with the change that first needs it. */
  readonly packages: readonly string[]
}

export interface ImportTable {
  /** Every folder and top-level file of `src`. A longer path (`engine/embedded`) overrides the packages of its folder. */
  readonly layers: Readonly<Record<string, Layer>>
  /** Folders that also run in a browser and therefore import no Node module. */
  readonly pure: readonly string[]
  /** Folders whose subfolders are leaves: no leaf imports another. */
  readonly leaves: readonly string[]
  /** Folders that lie beside leaves and are none: every leaf there may import them. */
  readonly common: readonly string[]
  /** Folders that may import a module whose name is known only at run time: a configuration, or a plugin that it names. */
  readonly computed: readonly string[]
}

/** What may import what. A change here is a change of the architecture and needs a decision record. */
export const IMPORT_TABLE: ImportTable = {
  layers: {
    base: { imports: [], packages: [] },
    task: { imports: ["base"], packages: [] },
    plugin: { imports: ["base", "task"], packages: ["zod", "@standard-schema/spec"] },
    protocol: { imports: ["base", "task"], packages: ["zod"] },
    engine: { imports: ["base", "task"], packages: ["vitest", "fast-check"] },
    "engine/rules": { imports: ["base", "task"], packages: [] },
    "engine/embedded": { imports: ["base", "task"], packages: [] },
    "engine/postgres": { imports: ["base", "task"], packages: ["pg", "pg-boss"] },
    builtin: { imports: ["base", "task", "plugin"], packages: ["zod"] },
    "builtin/models": {
      imports: ["base", "task", "plugin"],
      packages: [
        "zod",
        "@ai-sdk/provider",
        "@ai-sdk/anthropic",
        "@ai-sdk/openai",
        "@ai-sdk/google",
        "@ai-sdk/google-vertex",
        "@ai-sdk/openai-compatible",
      ],
    },
    "builtin/mcp": {
      imports: ["base", "task", "plugin"],
      packages: ["zod", "@modelcontextprotocol/client"],
    },
    "builtin/web": { imports: ["base", "task", "plugin"], packages: ["zod", "htmlparser2"] },
    "builtin/file_edit": { imports: ["base", "task", "plugin"], packages: ["zod", "diff"] },
    runner: { imports: ["base", "task", "plugin"], packages: ["zod", "@opentelemetry/api"] },
    session: { imports: ["base", "task", "plugin", "runner"], packages: ["zod"] },
    workflow: { imports: ["base", "task", "plugin", "runner", "session"], packages: [] },
    desk: { imports: ["base", "task", "plugin", "runner", "session", "workflow"], packages: [] },
    config: { imports: ["base", "task", "plugin"], packages: ["zod"] },
    program: {
      imports: [
        "base",
        "task",
        "plugin",
        "config",
        "desk",
        "builtin",
        "engine",
        "app.ts",
        "runtime.ts",
        "config-sections.ts",
      ],
      packages: [],
    },
    server: {
      imports: ["base", "task", "plugin", "desk", "protocol", "faces"],
      packages: [],
    },
    faces: { imports: ["base", "task", "plugin", "desk", "protocol"], packages: [] },
    client: { imports: ["base", "protocol"], packages: [] },
    tui: { imports: ["base", "client", "protocol"], packages: [] },
    cli: {
      imports: ["base", "desk", "client", "protocol", "config", "tui", "app.ts", "program"],
      packages: ["commander"],
    },
    "app.ts": { imports: [EVERYTHING], packages: [] },
    "library.ts": { imports: [EVERYTHING], packages: [] },
    "runtime.ts": { imports: [EVERYTHING], packages: [] },
    "config-sections.ts": { imports: [EVERYTHING], packages: ["zod"] },
    "needed-node.ts": { imports: [], packages: [] },
    "permission.ts": { imports: [EVERYTHING], packages: [] },
    "index.ts": { imports: [EVERYTHING], packages: [] },
    "plugins.ts": { imports: [EVERYTHING], packages: [] },
    "engines.ts": { imports: [EVERYTHING], packages: [] },
    "testing.ts": { imports: [EVERYTHING], packages: [] },
  },
  pure: ["base", "task", "plugin", "protocol", "client"],
  leaves: ["engine", "builtin"],
  common: ["engine/rules"],
  computed: ["config"],
}

export function allows(layer: Layer, target: string): boolean {
  return layer.imports.includes(EVERYTHING) || layer.imports.includes(target)
}
