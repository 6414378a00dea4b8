import type { FetchedPage } from "./fetch-page.ts"
import { FetchError } from "./fetch-error.ts"
import { type HtmlPage, htmlToPage } from "./html-page.ts"

export interface PageText extends HtmlPage {
  readonly mediaType: string
}

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const TEXT =
  /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|x-ndjson|ndjson|javascript|toml|sql|graphql))$/
/** Where browsers look for the charset of a page that does not name one in its header. */
const META_BYTES = 1024

/** The page as text a model can read. Refused when it is neither HTML nor text. */
export async function toPageText({ headers, body, url }: FetchedPage): Promise<PageText> {
  const [declared = "", ...parameters] = (headers["content-type"] ?? "").split(";")
  const mediaType = declared.trim().toLowerCase() || (body.includes(0) ? "application/octet-stream" : "text/plain")
  const isHtml = HTML.test(mediaType)
  if (!isHtml && !TEXT.test(mediaType)) {
    const message = `${url.href} is ${mediaType.slice(0, 80)}, and only HTML, JSON and text can be read.`
    throw new FetchError("unsupported_type", message)
  }
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^\s";]+)/i.exec(parameter)?.[1]).find(Boolean)
  const text = decode(body, charset ?? (isHtml ? findMetaCharset(body) : undefined))
  return isHtml ? { mediaType, ...(await htmlToPage(text, url)) } : { mediaType, title: null, text }
}

function decode(body: Uint8Array, charset = "utf-8"): string {
  const marked =
    body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : body[0] === 0xff && body[1] === 0xfe ? "utf-16le" : charset
  try {
    return new TextDecoder(marked).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}

function findMetaCharset(body: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(body.subarray(0, META_BYTES))
  return /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1]
}
