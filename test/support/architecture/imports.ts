import { parseSync } from "oxc-parser"

export interface FoundImport {
  /** The name of the module, or the source text of the expression that computes it. */
  readonly specifier: string
  readonly isComputed: boolean
  /** Counted from 1. */
  readonly line: number
}

/**
 * Every module a TypeScript source names: imports and re-exports, with or without `type`, dynamic imports, import
 * types, `require` and `import x = require()`.
 */
export function findImports(path: string, source: string): readonly FoundImport[] {
  const { program, errors } = parseSync(path, source)
  const problem = errors[0]
  if (problem) throw new Error(`${path}: ${problem.message}`)
  const found: FoundImport[] = []
  visit(program, (node) => {
    const named = toNamedModule(node)
    if (!isNode(named)) return
    const name = toName(source, named)
    const line = source.slice(0, named.start).split("\n").length
    found.push({ specifier: name ?? source.slice(named.start, named.end), isComputed: name === undefined, line })
  })
  return found
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

function toNamedModule(node: Node): unknown {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ExportNamedDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return node["source"]
    case "TSExternalModuleReference":
      return node["expression"]
    case "CallExpression": {
      const { callee, arguments: given } = node
      const isRequire = isNode(callee) && callee.type === "Identifier" && callee["name"] === "require"
      return isRequire && Array.isArray(given) ? given[0] : undefined
    }
    default:
      return undefined
  }
}

function toName(source: string, node: Node): string | undefined {
  if (typeof node["value"] === "string") return node["value"]
  return /^`([^`$]*)`$/.exec(source.slice(node.start, node.end))?.[1]
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, onNode)
    return
  }
  if (typeof value !== "object" || value === null) return
  if (isNode(value)) onNode(value)
  for (const child of Object.values(value)) visit(child, onNode)
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value
}
