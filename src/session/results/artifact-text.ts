import type { ArtifactReference } from "../../task/patch.ts"

/** Enough of a hash to find an artifact among those of its task. */
const BEGINNING_CHARACTERS = "sha256:".length + 12

/** An artifact with its type, its size and the beginning of its hash: for a reader who knows its task. */
export function toArtifactText({ hash, ...rest }: ArtifactReference): string {
  return toWholeText({ ...rest, hash: hash.slice(0, BEGINNING_CHARACTERS) })
}

/** Artifacts of a call in the foreground, with their whole hashes: no task of its own leads to them. Empty if there are none. */
export function toKeptText(artifacts: readonly ArtifactReference[]): string {
  return artifacts.length === 0 ? "" : `Artifacts kept: ${artifacts.map(toWholeText).join("; ")}`
}

function toWholeText({ name, mediaType, bytes, hash }: Omit<ArtifactReference, "hash"> & { hash: string }): string {
  return `${name}: ${mediaType}, ${bytes} bytes, ${hash}`
}
