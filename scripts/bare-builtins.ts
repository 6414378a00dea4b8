import { builtinModules } from "node:module"
import type { Plugin } from "rolldown"

const PREFIX = "\0bare-builtin:"
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/**
 * Takes from Node's own modules only what the code uses. An `import` of such a module reads every export, and so loads parts
 * that are otherwise loaded at their first use: for `node:util` alone 3 MB and some milliseconds of every start.
 */
export function bareBuiltins(): Plugin {
  return {
    name: "bare-builtins",
    resolveId: (id) => (isBuiltin(id) ? PREFIX + id : null),
    load(id) {
      if (!id.startsWith(PREFIX)) return null
      const name = id.slice(PREFIX.length)
      const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
        (key) => IDENTIFIER.test(key) && key !== "default",
      )
      const exported = names.map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})()`)
      return [
        `const builtin = process.getBuiltinModule(${JSON.stringify(name)})`,
        ...exported,
        "export default builtin",
      ].join("\n")
    },
  }
}

function isBuiltin(id: string): boolean {
  return id.startsWith("node:") && (builtinModules.includes(id.slice("node:".length)) || builtinModules.includes(id))
}
