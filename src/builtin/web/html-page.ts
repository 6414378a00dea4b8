import { setImmediate as nextTick } from "node:timers/promises"
import { htmlToText } from "./html-text.ts"

export interface HtmlPage {
  readonly title: string | null
  readonly text: string
}

const LONGEST_LINK = 160
const ANCHOR_ONLY = /^#|^$/

/** The text a reader of the page sees. Its links are relative to `url`. */
export async function htmlToPage(html: string, url: URL): Promise<HtmlPage> {
  const toLink = (address: string): string => {
    const path = toShortLink(address)
    return ANCHOR_ONLY.test(path) ? "" : toShortLink(URL.parse(path, url.href)?.href ?? path)
  }
  const texts: string[] = []
  for (const slice of sliceHtml(html)) {
    texts.push((await htmlToText(slice, toLink)).trim())
    await nextTick()
  }
  const title = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html)?.[1] ?? ""
  return { title: (await htmlToText(title, toLink)).trim() || null, text: texts.filter(Boolean).join("\n\n") }
}

/** Takes the query off a link that is too long; leaves out links that lead to no page, or are still too long. */
function toShortLink(path: string): string {
  if (/^(?:javascript|data|blob|vbscript):/i.test(path.trim())) return ""
  const [short = ""] = path.length > LONGEST_LINK ? path.split("?", 1) : [path]
  return short.length > LONGEST_LINK ? "" : short
}

/** Elements that hold no words for a reader. */
const INVISIBLE = /<(?:!--|(script|style|noscript|template|svg|iframe|title)[\s/>])/gi
const BLOCK_START = /<(?:p|div|h[1-6]|li|tr|section|article|ul|ol|table|br)[\s/>]/gi
const SLICE_CHARACTERS = 64 * 1024

/**
 * Cuts a page into pieces that each take a moment to convert: other work goes on in between, and no page is so deep or
 * so long that it takes for ever. Cuts before a block where there is one.
 */
function* sliceHtml(html: string): Generator<string> {
  const visible = withoutInvisible(html)
  let start = 0
  while (start < visible.length) {
    const end = findCut(visible, start + SLICE_CHARACTERS)
    yield visible.slice(start, end)
    start = end
  }
}

function findCut(html: string, from: number): number {
  if (from >= html.length) return html.length
  const window = html.slice(from, from + SLICE_CHARACTERS)
  BLOCK_START.lastIndex = 0
  const block = BLOCK_START.exec(window)?.index ?? -1
  const tag = block >= 0 ? block : window.indexOf("<")
  return from + (tag >= 0 ? tag : window.length)
}

/** Removes these elements in one pass. An element that is never closed goes on to the end, as in browsers. */
function withoutInvisible(html: string): string {
  const kept: string[] = []
  let at = 0
  INVISIBLE.lastIndex = 0
  for (let found = INVISIBLE.exec(html); found; found = INVISIBLE.exec(html)) {
    kept.push(html.slice(at, found.index))
    const isComment = found[1] === undefined
    // Searches the page itself and no copy in lower case, where some letters grow and every position would shift.
    const closing = isComment ? /-->/g : new RegExp(`</${found[1]}`, "gi")
    closing.lastIndex = found.index + 4
    const end = closing.exec(html)?.index
    if (end === undefined) return kept.join(" ")
    at = endOfTag(html, end)
    INVISIBLE.lastIndex = at
  }
  return [...kept, html.slice(at)].join(" ")
}

function endOfTag(html: string, start: number): number {
  const end = html.indexOf(">", start)
  return end < 0 ? html.length : end + 1
}
