import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type ExportNamedDeclaration, type ImportDeclaration, parseSync, type Statement } from "oxc-parser"

/**
 * Keeps of the compiler's declarations what the entries export and what that names, and removes all others. Readers compile
 * every declaration they get, and those of internals name packages and globals that readers need not have.
 */
export function keepPublicDeclarations(folder: string, entries: readonly string[]): void {
  const files = new Map<string, Declarations>()
  const open = (path: string): Declarations => {
    const known = files.get(path) ?? readDeclarations(path)
    files.set(path, known)
    return known
  }
  for (const entry of entries) {
    const file = open(join(folder, `${entry}.d.ts`))
    for (const part of file.parts) keep(open, file, part)
  }
  for (const name of globSync("**/*.d.ts", { cwd: folder })) {
    const path = join(folder, name)
    const file = files.get(path)
    if (file) writeFileSync(path, toText(file))
    else rmSync(path)
  }
}

interface Declarations {
  readonly path: string
  readonly parts: readonly Part[]
}

/** A declaration, or one name that is imported or exported again. */
interface Part {
  /** The names by which the file knows it. */
  readonly names: readonly string[]
  /** A declaration with the comments before it, or the name as it stands in its statement. */
  readonly text: string
  /** For a name of another module: the name there, and the words that its statement begins with. */
  readonly origin?: { readonly module: string; readonly name: string; readonly keywords: string }
  isKept: boolean
}

type Open = (path: string) => Declarations

function keep(open: Open, file: Declarations, part: Part): void {
  if (part.isKept) return
  part.isKept = true
  if (part.origin) {
    const { module, name } = part.origin
    if (module.startsWith(".")) keepNames(open, open(toPath(file, module)), new Set([name]))
    return
  }
  const words = wordsOf(part.text)
  keepNames(open, file, words)
  for (const [, module = ""] of part.text.matchAll(/\bimport\("(\.[^"]+)"\)/g)) {
    keepNames(open, open(toPath(file, module)), words)
  }
}

/** Words that are no names of the file, such as those of fields, keep nothing. */
function keepNames(open: Open, file: Declarations, names: ReadonlySet<string>): void {
  for (const part of file.parts) if (part.names.some((name) => names.has(name))) keep(open, file, part)
}

const toPath = ({ path }: Declarations, module: string): string => join(dirname(path), module.replace(/\.ts$/, ".d.ts"))

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "").match(/[A-Za-z_$][\w$]*/g))

function readDeclarations(path: string): Declarations {
  const source = readFileSync(path, "utf8")
  const { program, errors } = parseSync(path, source)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  let at = 0
  const parts = program.body.flatMap((statement) => {
    const text = source.slice(at, statement.end).trim()
    at = statement.end
    return statement.type === "ImportDeclaration" || (statement.type === "ExportNamedDeclaration" && statement.source)
      ? toNames(source, statement)
      : toDeclaration(text, statement)
  })
  return { path, parts }
}

function toNames(source: string, statement: ImportDeclaration | ExportNamedDeclaration): readonly Part[] {
  const module = statement.source?.value ?? ""
  const isImport = statement.type === "ImportDeclaration"
  const isType = isImport ? statement.importKind === "type" : statement.exportKind === "type"
  const keywords = `${isImport ? "import" : "export"}${isType ? " type" : ""}`
  return statement.specifiers.map((specifier) => {
    const text = source.slice(specifier.start, specifier.end)
    if (specifier.type === "ImportSpecifier") {
      const origin = { module, name: nameOf(specifier.imported), keywords }
      return { names: [specifier.local.name], text, origin, isKept: false }
    }
    if (specifier.type !== "ExportSpecifier") throw new Error(`${text} of ${module} is a whole module, or a default.`)
    return {
      names: [nameOf(specifier.exported)],
      text,
      origin: { module, name: nameOf(specifier.local), keywords },
      isKept: false,
    }
  })
}

function toDeclaration(text: string, statement: Statement): readonly Part[] {
  const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  if (!declared) return []
  if (declared.type === "VariableDeclaration") {
    return [{ names: declared.declarations.map(({ id }) => nameOf(id)), text, isKept: false }]
  }
  if (!("id" in declared) || !declared.id) throw new Error(`This declaration has no name: ${text}`)
  return [{ names: [nameOf(declared.id)], text, isKept: false }]
}

function nameOf(node: object): string {
  const name: unknown = "name" in node ? node.name : "value" in node ? node.value : undefined
  if (typeof name !== "string") throw new Error("The name of a declaration is no plain word.")
  return name
}

function toText({ parts }: Declarations): string {
  const kept = parts.filter(({ isKept }) => isKept)
  const byStatement = Map.groupBy(
    kept.filter(({ origin }) => origin),
    ({ origin }) => `${origin?.keywords} {} from ${JSON.stringify(origin?.module)};`,
  )
  const named = [...byStatement].map(([frame, names]) =>
    frame.replace("{}", `{ ${names.map(({ text }) => text).join(", ")} }`),
  )
  return [...named, ...kept.flatMap(({ origin, text }) => (origin ? [] : [text])), ""].join("\n")
}
