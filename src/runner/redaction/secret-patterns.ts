/**
 * Matches the letters in either case. `(?i:…)` should do the same, but V8 sometimes ignores it where a pattern has
 * alternatives (nodejs/node#60030).
 */
const inAnyCase = (letters: string): string =>
  letters.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)

/** Names that stand before a secret, in either case (`_KEY` only in capitals). Page tokens and the like are no secrets. */
const NAMES = `(?:(?:${[
  "passwords?",
  "passwd",
  "passphrase",
  "secret",
  "(?<!(?:page|next|sync|continuation|cancel|cancellation|max|min|num|stop|public)[_-]?)token",
  "(?:api|access|secret|private|auth|encryption|signing)[_-]?key",
  "_pass",
  "credentials?",
]
  .map(inAnyCase)
  .join("|")})|(?<=[A-Z0-9])(?<!PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|CACHE)_KEY)`

const ASSIGNED = "[\"']?[ \\t]{0,4}[:=][ \\t]{0,4}"
/** These may stand before prose as well as before a value. `=` with no space stands before a value. */
const LOOSELY_ASSIGNED = "[\"']?[ \\t]{0,4}(?::[ \\t]{0,4}|=[ \\t]{1,4})"
const AFTER_FLAG = "(?<=(?<![\\w-])--?[\\w-]{1,60})[ \\t=]{1,4}"

/** Where a value without quotes ends. Code that goes on with a call or an index is no value. */
const END = "(?=[\\s\"',;)\\]}>]|$)"
const PLACEHOLDER = `(?:${inAnyCase(
  "required|optional|string|undefined|null|none|true|false|missing|invalid|unknown|hidden",
)})${END}`
/** A reference that a shell or a template replaces with a value. */
const REFERENCE = "\\$(?:\\{[^}\\r\\n]{1,256}\\}|\\([^)\\r\\n]{1,256}\\)|[A-Z_][A-Z0-9_]{0,128})"
/** One word or two, or names of code: `getToken`, `this.api_key`, `process.env.TOKEN`, `read-only`. */
const WORD =
  "(?:[A-Z]?[a-z]{1,64}(?:[A-Z][a-z]{1,64}){0,16}|[a-z]{1,64}(?:_[a-z]{1,64}){1,16}|[A-Z]{1,64}(?:_[A-Z]{1,64}){0,16})"
const WORDS = `${WORD}(?:\\.${WORD}){0,16}${END}|[A-Za-z]?[a-z]{1,64}-[a-z]{1,64}${END}`
const LOCATION = "[a-z][a-z+.-]{1,16}://|(?:~|\\.{1,2})?/[\\w.-]{1,64}/"
/** Without quotes, only the look of a text tells a secret from prose. */
const toLooking = (shortest: number): string =>
  `(?![$({<=*:|>%]|${PLACEHOLDER}|${WORDS}|${LOCATION})[^\\s"',;()<>{}\\[\\]|]{${shortest},1024}${END}`
const QUOTED = `(?!${REFERENCE}["']|(?:${PLACEHOLDER}))[^"'\\r\\n]{4,1024}(?=["'])`

/** Keys of services by the signs that they begin with. */
const KEYS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter and others. At least one digit: sk-learn-like-words are no keys.
  /(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,64}\d)[\w-]{16,512}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])/g,
  /gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}/g,
  /xox[abeoprs]-[A-Za-z0-9-]{10,512}/g,
  /AIza[\w-]{30,64}/g,
  /glpat-[\w-]{16,128}/g,
  /npm_[A-Za-z0-9]{30,64}/g,
]

/** Shapes that nothing but a secret has. They are complete in themselves: the name before a text tells nothing of it. */
export const UNMISTAKABLE_PATTERNS: readonly RegExp[] = [
  ...KEYS,
  /(?<![\w-])eyJ[\w-]{8,1024}\.eyJ[\w-]{8,8192}\.[\w-]{0,2048}/g,
]

/**
 * The shapes of secrets. What a pattern's groups match stays readable before the secret. Every repetition is bounded:
 * the cost of hostile text grows only with its length, and no match is longer than the context that a reader redacts.
 */
export const SECRET_PATTERNS: readonly RegExp[] = [
  ...KEYS,
  /(?<![\w-])eyJ[\w-]{8,1024}\.[\w-]{8,8192}(?:\.[\w-]{0,2048})?/g,
  /(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:bearer|basic|digest|token)[ \t]{1,4})?)(?!\$|(?:bearer|basic|digest|token)[ \t])[^\s"',;]{6,4096}/gi,
  /(\bbearer[ \t]{1,4})[\w.~+/=-]{16,4096}/gi,
  /(\bbasic[ \t]{1,4})(?=[A-Za-z+/]{0,256}[\d=])[A-Za-z0-9+/]{8,4096}={0,2}/gi,
  // The whole header: nobody knows which of a site's cookies are secrets.
  /(\b(?:set-)?cookie["']?[ \t]{0,4}:[ \t]{0,4}["']?)(?=[^\s=;"']{1,256}=)(?:="[^"\r\n]{0,1024}"|[^"'\r\n]){4,4096}/gi,
  new RegExp(
    `((?<![\\w-])[xX]-[\\w-]{0,40}(?:${inAnyCase("key|token|secret")})["']?[ \\t]{0,4}:[ \\t]{0,4})(?![$<{*]|${PLACEHOLDER})[^\\s"',;]{8,1024}`,
    "g",
  ),
  new RegExp(
    `(${NAMES})(?:${[
      `(=)(?!["'$({<=*]|${PLACEHOLDER})[^\\s"'&;,]{4,1024}`,
      `(${ASSIGNED}["'])${QUOTED}`,
      `(${LOOSELY_ASSIGNED})${toLooking(8)}`,
      `(${AFTER_FLAG}["'])${QUOTED}`,
      `(${AFTER_FLAG})${toLooking(6)}`,
    ].join("|")})`,
    "g",
  ),
  new RegExp(`(://[^\\s/:@"']{0,128}:)(?!${REFERENCE}@)[^\\s/@"']{1,256}(?=@)`, "g"),
]

/** A cheap first test: a text that this does not match is not searched for any shape. */
export const SUSPICION =
  /sk-|A[KS]IA|gh[pousr]_|github_pat_|xox|AIza|glpat-|npm_|eyJ|-----B|[Bb]earer|BEARER|[Bb]asic|BASIC|[Aa]uthorization|AUTHORIZATION|[Cc]ookie|COOKIE|[Pp]ass|PASS|[Ss]ecret|SECRET|[Tt]oken|TOKEN|-key|[Kk]ey["' \t]*[:=]|KEY["' \t]*[:=]|[Cc]redential|CREDENTIAL|:\/\/[^\s/]*@/

/** Secrets whose end may not be printed yet. A prompt that asks for a secret, with nothing after it, does not match. */
const UNFINISHED = [
  "sk-[\\w-]*",
  "(?:AKIA|ASIA|AIza|xox[abeoprs]-|glpat-|gh[pousr]_|github_pat_|npm_)[\\w-]*",
  "eyJ[\\w.-]*",
  "(?:authorization[:=] ?)?(?:bearer|basic)[ \\t]+[\\w.~+/=-]*",
  "authorization[:=] ?\\S*",
  `(?:x-[\\w-]*(?:key|token|secret)|${NAMES})${ASSIGNED}(?:["'][^"'\\r\\n]*|[^\\s"']+)`,
  `${NAMES}${AFTER_FLAG}(?:["'][^"'\\r\\n]*|[^\\s"']+)`,
  `cookie["']?[ \\t]*:[ \\t]*[^\\s][^\\r\\n]*`,
  "://[^\\s/:@]*:(?!\\d*$)[^\\s/@]*",
]

export const UNFINISHED_SECRET = new RegExp(`(?:${UNFINISHED.map((part) => `(?:${part})`).join("|")})$`, "i")
