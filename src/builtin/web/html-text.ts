import { createTextWriter } from "./text-writer.ts"

const words = (names: string): ReadonlySet<string> => new Set(names.split(" "))

/** A blank line is before and after them. */
const PARAGRAPHS = words("p h1 h2 h3 h4 h5 h6 ul ol dl pre blockquote table hr figure")
/** They begin and end a line. */
const BLOCKS = words(
  "address article aside body caption center dd details dialog div dt fieldset figcaption footer form header html legend li main nav option section summary tbody tfoot thead tr",
)
/** They hold no words for a reader. */
const HIDDEN = words(
  "script style noscript template svg iframe title img button select textarea object canvas audio video datalist",
)
const CELLS = words("td th")
const RULE = "-".repeat(40)

/** A piece of a page as text. `toLink` says what is shown of an address: empty for one that is not. */
export async function htmlToText(html: string, toLink: (address: string) => string): Promise<string> {
  // Loaded when a page is read: most conversations never need it.
  const { Parser } = await import("htmlparser2")
  const writer = createTextWriter()
  const lists: { next: number | null }[] = []
  const links: { readonly address: string; readonly from: number }[] = []
  const hidden = { name: "", depth: 0 }

  function open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (PARAGRAPHS.has(name)) writer.breakLine(lists.length > 0 && (name === "ul" || name === "ol") ? 1 : 2)
    else if (BLOCKS.has(name)) writer.breakLine(1)
    else if (CELLS.has(name)) writer.separate(" | ")
    if (name === "br") writer.breakLine(1)
    else if (name === "hr") writer.write(RULE)
    else if (name === "pre") writer.keepSpace(true)
    else if (name === "blockquote") writer.indent("> ", "> ")
    else if (name === "ul") lists.push({ next: null })
    else if (name === "ol") lists.push({ next: Number.parseInt(attributes["start"] ?? "1", 10) || 1 })
    else if (name === "li") indentItem()
    else if (name === "a") links.push({ address: attributes["href"] ?? "", from: writer.length() })
  }

  function indentItem(): void {
    const list = lists.at(-1)
    const marker = list && list.next !== null ? `${list.next++}. ` : "* "
    writer.indent(` ${marker}`, " ".repeat(marker.length + 1))
  }

  function close(name: string): void {
    if (name === "a") closeLink()
    else if (name === "pre") writer.keepSpace(false)
    else if (name === "blockquote" || name === "li") writer.outdent()
    else if (name === "ul" || name === "ol") lists.pop()
    if (PARAGRAPHS.has(name)) writer.breakLine(lists.length > 0 && (name === "ul" || name === "ol") ? 1 : 2)
    else if (BLOCKS.has(name)) writer.breakLine(1)
  }

  function closeLink(): void {
    const link = links.pop()
    if (!link) return
    const shown = toLink(link.address)
    if (shown === "" || shown === writer.since(link.from)) return
    writer.write(` [${shown}]`)
  }

  const parser = new Parser({
    onopentag(name, attributes) {
      if (hidden.depth > 0) hidden.depth += name === hidden.name ? 1 : 0
      else if (HIDDEN.has(name)) Object.assign(hidden, { name, depth: 1 })
      else open(name, attributes)
    },
    ontext(text) {
      if (hidden.depth === 0) writer.write(text)
    },
    onclosetag(name) {
      if (hidden.depth > 0) hidden.depth -= name === hidden.name ? 1 : 0
      else close(name)
    },
  })
  parser.end(html)
  return writer.text()
}
