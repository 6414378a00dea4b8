import { parseSync } from "oxc-parser"

/** One small change of a source that its tests should notice. */
export interface Mutant {
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  readonly start: number
  readonly end: number
  /** The text that stands there now, and the one that replaces it. */
  readonly before: string
  readonly after: string
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }
type Change = Pick<Mutant, "start" | "end" | "after">

const FLIPPED: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "*": "/",
  "&&": "||",
  "||": "&&",
}

/** Log lines and spans are diagnostics for people: tests need not notice that one is missing. */
const FOR_PEOPLE = /\b(?:log|span|report)\??\.\w+\(|\bwarn\(/

export function findMutants(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source)
  const problem = errors[0]
  if (problem) throw new Error(`${file}: ${problem.message}`)
  const found: Mutant[] = []
  visit(program, (node) => {
    for (const { start, end, after } of changesOf(node, source)) {
      const line = source.slice(0, start).split("\n").length
      found.push({ file, line, start, end, before: source.slice(start, end), after })
    }
  })
  return found
}

export function applyMutant(source: string, { start, end, after }: Mutant): string {
  return source.slice(0, start) + after + source.slice(end)
}

function changesOf(node: Node, source: string): readonly Change[] {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      return flipOperator(node, source)
    case "IfStatement":
      return [negate(node["test"], source), removeGuard(node)].filter((change) => change !== undefined)
    case "ConditionalExpression":
      return [negate(node["test"], source)].filter((change) => change !== undefined)
    case "UnaryExpression":
      return node["operator"] === "!" ? [{ start: node.start, end: node.start + 1, after: "" }] : []
    case "Literal":
      return typeof node["value"] === "boolean" ? [{ ...spanOf(node), after: String(!node["value"]) }] : []
    case "ExpressionStatement":
      return changeStatement(node, source)
    default:
      return []
  }
}

function flipOperator(node: Node, source: string): readonly Change[] {
  const { left, right, operator } = node
  if (!isNode(left) || !isNode(right) || typeof operator !== "string") return []
  const after = FLIPPED[operator]
  // `+` between texts concatenates, and has no minus.
  if (after === undefined || (operator === "+" && (isText(left) || isText(right)))) return []
  const start = left.end + source.slice(left.end, right.start).indexOf(operator)
  return [{ start, end: start + operator.length, after }]
}

function negate(test: unknown, source: string): Change | undefined {
  if (!isNode(test)) return undefined
  return { ...spanOf(test), after: `!(${source.slice(test.start, test.end)})` }
}

/** `if (…) return`, without an else: the function goes on. */
function removeGuard(node: Node): Change | undefined {
  const { consequent, alternate } = node
  if (alternate !== null || !isNode(consequent)) return undefined
  const isLeaving = ["ReturnStatement", "ThrowStatement", "ContinueStatement"].includes(consequent.type)
  return isLeaving ? { ...spanOf(node), after: ";" } : undefined
}

/** Leaves out a call whose result nobody uses, and does not wait for a call that is awaited. */
function changeStatement(node: Node, source: string): readonly Change[] {
  const { expression } = node
  if (!isNode(expression) || FOR_PEOPLE.test(source.slice(node.start, node.end))) return []
  const removed = { ...spanOf(node), after: ";" }
  if (expression.type === "CallExpression") return [removed]
  if (expression.type !== "AwaitExpression") return []
  const wait = { start: expression.start, end: expression.start + "await".length, after: "void" }
  return [removed, wait]
}

function isText(node: Node): boolean {
  return node.type === "TemplateLiteral" || typeof node["value"] === "string"
}

function spanOf({ start, end }: Node): { readonly start: number; readonly end: number } {
  return { start, end }
}

/** Types are gone when tests run. */
function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, onNode)
    return
  }
  if (typeof value !== "object" || value === null) return
  if (!isNode(value)) return
  if (value.type.startsWith("TS")) return visit(value["expression"], onNode)
  if (value.type === "ImportDeclaration") return
  onNode(value)
  for (const child of Object.values(value)) visit(child, onNode)
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
}
