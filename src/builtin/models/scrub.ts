import { shorten } from "../../base/shorten.ts"

const SHORTEST_SECRET = 6
const LONGEST_SENTENCE = 300

/** Shapes of keys, for keys that we were not told: a language model that was handed in has its key inside. */
const KEY_SHAPES =
  /\b(sk|gsk|xai|ghp|hf|r8|tgp|nvapi)[-_][\w*.-]{6,}|\bAIza[\w*-]{10,}|\bya29\.[\w*.-]+|\beyJ[\w-]{10,}\.[\w.-]+/g
const CREDENTIALS =
  /\b(bearer|basic)\s+[\w.~+/=*-]{16,}|((?:api[-_]?key|x-goog-api-key|access_token|[?&]key)["']?\s*[=:]\s*["']?)[^\s"'&,}]{8,}/gi

/** Removes what looks like a key from a provider's sentence, and cuts it to a length that a person reads. */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET).toSorted((a, b) => b.length - a.length)
  return (text) => {
    const clean = known
      .reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text)
      .replace(CREDENTIALS, (_, scheme: string | undefined, name: string | undefined) =>
        scheme ? `${scheme} [key]` : `${name ?? ""}[key]`,
      )
      .replace(KEY_SHAPES, "[key]")
      .replace(/\s+/g, " ")
      .trim()
    return shorten(clean, LONGEST_SENTENCE)
  }
}
