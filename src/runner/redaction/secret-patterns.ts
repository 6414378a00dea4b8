const SECRET_NAMES = [
  "passwords?",
  "passwd",
  "passphrase",
  "secret",
  "token",
  "(?:api|access|secret|private|auth|encryption|signing)[_-]?key",
  "_pass",
  "credentials?",
].join("|")

/**
 * The shapes of secrets. A first group is what stays readable before the secret. Every repetition is bounded, so that
 * hostile text costs no more than its length, and none is longer than the context that a reader looks at.
 */
export const SECRET_PATTERNS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter and others. At least one digit: sk-learn-like-words are no keys.
  /(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,64}\d)[\w-]{16,512}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])/g,
  /gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}/g,
  /xox[abeoprs]-[A-Za-z0-9-]{10,512}/g,
  /AIza[\w-]{30,64}/g,
  /glpat-[\w-]{16,128}/g,
  /npm_[A-Za-z0-9]{30,64}/g,
  /(?<![\w-])eyJ[\w-]{8,1024}\.[\w-]{8,8192}(?:\.[\w-]{0,2048})?/g,
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[\s\S]{0,15000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|[A-Za-z0-9+/=\s\\]{0,15000})/g,
  /(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:bearer|basic|digest|token)[ \t]{1,4})?)[^\s"',;]{6,4096}/gi,
  /(\bbearer[ \t]{1,4})[\w.~+/=-]{16,4096}/gi,
  /(\bbasic[ \t]{1,4})(?=[A-Za-z+/]{0,256}[\d=])[A-Za-z0-9+/]{8,4096}={0,2}/gi,
  new RegExp(`((?:${SECRET_NAMES})=)(?!["'$({<=*])[^\\s"'&;,]{4,1024}`, "gi"),
  new RegExp(`((?:${SECRET_NAMES})["']?[ \\t]{0,4}[:=][ \\t]{0,4}["'])[^"'\\r\\n]{4,1024}(?=["'])`, "gi"),
  /(:\/\/[^\s/:@"']{0,128}:)[^\s/@"']{1,256}(?=@)/g,
]

/** One cheap look: a text in which this finds nothing is tested for nothing else. */
export const SUSPICION =
  /sk-|A[KS]IA|gh[pousr]_|github_pat_|xox|AIza|glpat-|npm_|eyJ|-----B|[Bb]earer|BEARER|[Bb]asic|BASIC|[Aa]uthorization|AUTHORIZATION|[Pp]ass|PASS|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey["' \t]*[:=]|KEY["' \t]*[:=]|[Cc]redential|CREDENTIAL|:\/\/[^\s/]*@/

/** A secret whose end may not have been printed yet. */
export const UNFINISHED_SECRET = new RegExp(
  [
    "sk-[\\w-]*",
    "(?:AKIA|ASIA|AIza|xox[abeoprs]-|glpat-|gh[pousr]_|github_pat_|npm_)[\\w-]*",
    "eyJ[\\w.-]*",
    "(?:authorization[:=] ?)?(?:bearer|basic)[ \\t]+[\\w.~+/=-]*",
    "authorization[:=] ?\\S*",
    `(?:${SECRET_NAMES})=\\S*`,
    "://[^\\s/:@]*:(?!\\d*$)[^\\s/@]*",
  ]
    .map((part) => `(?:${part})`)
    .join("|")
    .replace(/^/, "(?:")
    .replace(/$/, ")$"),
  "i",
)
