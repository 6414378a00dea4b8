/** A cheap first test: a name that this does not match names no secret. */
const SUSPICIOUS_NAME = /pass|secret|credential|key|token|authorization|cookie/i

/**
 * Matched against the words of a name, as `toWords` splits it: `apiKey` gives `api_key`, `X-Api-Key` gives `x_api_key`.
 * The last words tell what the field holds.
 */
const SECRET_NAME = new RegExp(
  `(?:passwords?|passwd|passphrases?|(?:^|_)(?:${[
    "secrets?",
    "credentials?",
    "authorization",
    "cookies?",
    "(?:api|access|secret|private|auth|encryption|signing|master)_?keys?",
    "(?:access|auth|refresh|bearer|session|id|api|bot|deploy|webhook)_?tokens?",
  ].join("|")}))$`,
)

/** The name of a constant. Any key or token is a secret there, except the kinds that the lookahead names. */
const SECRET_CONSTANT =
  /^(?!.*(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|CACHE)_KEY$|.*PAGE_TOKEN$)[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)$/

/** These names stand for all kinds of things, so the value decides. Page tokens and the like are no secrets. */
const DOUBTFUL_NAME =
  /(?:(?<!(?:^|_)(?:page|next|previous|sync|continuation|cursor|cancel|cancellation|start|stop|first|last)_)token|(?:^|_)pass)$/

const SHORTEST_SECRET_CHARACTERS = 4

/** Values that stand in the place of a secret without being one. */
const PLACEHOLDER =
  /^(?:required|optional|missing|invalid|none|null|undefined|true|false|string|unknown|hidden|include|omit|same-origin|x+|\*+|\.+)$/i

/** A reference that a shell or a template replaces with a value. */
const REFERENCE = /^\$(?:\{[^}]*\}|\([^)]*\)|[A-Z_][A-Z0-9_]*)$/

const LONG_AND_WITHOUT_SPACE = /^\S{8,}$/
/** Characters, or a mix of cases, that neither a word nor a name in code has. */
const RANDOM_LOOKING = /\d|[^\w.-]|[A-Z]{2}.*[a-z]|[a-z].*[A-Z]{2}/

/** True if the text of a field of this name is a secret, in any shape. */
export function isSecretField(name: string, text: string): boolean {
  if (text.length < SHORTEST_SECRET_CHARACTERS || !SUSPICIOUS_NAME.test(name)) return false
  if (PLACEHOLDER.test(text) || REFERENCE.test(text)) return false
  const words = toWords(name)
  if (SECRET_NAME.test(words) || SECRET_CONSTANT.test(name)) return true
  return DOUBTFUL_NAME.test(words) && LONG_AND_WITHOUT_SPACE.test(text) && RANDOM_LOOKING.test(text)
}

/** Names of environment variables whose value is a secret wherever it turns up. */
export const SECRET_VARIABLE_NAME =
  /(?:(?:^|_|api|access|secret|private|auth)key|token|secret|password|passwd|passphrase|credential|(?:^|_)pass)s?(?:_|$)/i

function toWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase()
}
