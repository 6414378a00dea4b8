import { setImmediate as nextTick } from "node:timers/promises"
import { sliceHtml } from "./html-slices.ts"

export interface HtmlPage {
  readonly title: string | null
  readonly text: string
}

const DEEPEST_ELEMENT = 200
const LONGEST_LINK = 160
const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
const SKIPPED = ["img", "button", "select"]

/** The text a reader of the page sees. Its links are relative to `url`. */
export async function htmlToPage(html: string, url: URL): Promise<HtmlPage> {
  // Loaded when a page is read: most conversations never need it.
  const { convert } = await import("html-to-text")
  const links = { baseUrl: url.href, hideLinkHrefIfSameAsText: true, noAnchorUrl: true, pathRewrite: toShortLink }
  const options = {
    wordwrap: null,
    limits: { maxDepth: DEEPEST_ELEMENT },
    selectors: [
      { selector: "a", options: links },
      ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false } })),
      ...SKIPPED.map((selector) => ({ selector, format: "skip" })),
    ],
  }
  const texts: string[] = []
  for (const slice of sliceHtml(html)) {
    texts.push(convert(slice, options).trim())
    await nextTick()
  }
  const title = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html)?.[1] ?? ""
  return { title: convert(title, { wordwrap: null }).trim() || null, text: texts.filter(Boolean).join("\n\n") }
}

/** Queries are what makes links long; what is no address of a page is left out. */
function toShortLink(path: string): string {
  if (/^(?:javascript|data|blob|vbscript):/i.test(path.trim())) return ""
  const [short = ""] = path.length > LONGEST_LINK ? path.split("?", 1) : [path]
  return short.length > LONGEST_LINK ? "" : short
}
