import { shorten } from "../base/shorten.ts"
import type { JsonObject, JsonValue } from "../base/json.ts"
import type { ArtifactHash } from "./id.ts"

export interface ArtifactReference {
  readonly hash: ArtifactHash
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
}

const HASH = /^sha256:[0-9a-f]{64}$/

export function isArtifactHash(text: unknown): text is ArtifactHash {
  return typeof text === "string" && HASH.test(text)
}

/** The artifacts, each once, that have this name or whose hash begins like this. */
export function matchArtifacts(artifacts: readonly ArtifactReference[], wanted: string): readonly ArtifactReference[] {
  const digits = wanted.toLowerCase().replace(/^sha256:/, "")
  const isMeant = ({ name, hash }: ArtifactReference): boolean =>
    name === wanted || (digits !== "" && hash.slice("sha256:".length).startsWith(digits))
  return [...new Map(artifacts.filter(isMeant).map((artifact) => [artifact.hash, artifact])).values()]
}

/**
 * The result of a run. Of an agent's run, a model reads what the agent said, its facts and its next steps. Of a tool's
 * run, a notice carries the whole payload up to 8 KiB, and the beginning and the end of a longer one. Lists, people and
 * the trajectory show the digest. Artifacts are only named.
 */
export interface Patch {
  readonly digest: readonly string[]
  readonly facts: JsonObject
  readonly artifacts: readonly ArtifactReference[]
  readonly nextSteps: readonly string[]
  readonly payload: JsonValue
}

/** Longest digest line made from a plain value: about a hundred tokens. */
const DIGEST_CHARACTERS = 400

/** The patch of a tool that returned a plain value. */
export function toPatch(payload: JsonValue): Patch {
  return { digest: toDigest(payload), facts: {}, artifacts: [], nextSteps: [], payload }
}

function toDigest(payload: JsonValue): readonly string[] {
  if (payload === null || payload === "") return []
  const text = typeof payload === "string" ? payload : JSON.stringify(payload)
  return [shorten(text, DIGEST_CHARACTERS)]
}
