import { MeanwhileError } from "../../../base/error.ts"
import type { ArtifactRecord } from "../../../task/document.ts"
import { type ArtifactReference, matchArtifacts } from "../../../task/patch.ts"
import type { BackgroundCall } from "./background-call.ts"
import { requireTask } from "./own-tasks.ts"

/** An artifact by its whole hash; of a named task also by its name, or by the beginning of its hash. */
export interface ArtifactRequest {
  readonly artifact: string
  readonly task?: string | undefined
}

export interface ReadArtifact extends ArtifactRecord {
  /** Null where it was asked for by its hash alone. */
  readonly name: string | null
}

/** Reads an artifact that a task of the workspace keeps. Claims nothing. */
export async function readArtifact(call: BackgroundCall, { artifact, task }: ArtifactRequest): Promise<ReadArtifact> {
  const { tasks } = call.context
  if (task === undefined) return { ...(await tasks.artifact(artifact)), name: null }
  const view = await requireTask(call, task)
  const { hash, name } = findReference("patch" in view.task ? (view.task.patch?.artifacts ?? []) : [], artifact, task)
  return { ...(await tasks.artifact(hash)), name }
}

function findReference(references: readonly ArtifactReference[], wanted: string, task: string): ArtifactReference {
  const [only, ...others] = matchArtifacts(references, wanted)
  if (only && others.length === 0) return only
  const names = references.map((reference) => `${reference.name} (${reference.hash})`).join(", ")
  if (only) {
    const message = `${wanted} could be any of several artifacts of task ${task}: ${names}. Give more of the hash.`
    throw new MeanwhileError("invalid_input", message)
  }
  const there = names === "" ? "It keeps none." : `There are ${names}.`
  throw new MeanwhileError("not_found", `Task ${task} keeps no artifact ${JSON.stringify(wanted)}. ${there}`)
}

interface ArtifactPart {
  readonly text: string
  /** The bytes that the text was made of. Neither end lies within a character. */
  readonly offset: number
  readonly nextOffset: number
}

const TEXTUAL = /^text\/|[/+](?:json|xml|yaml|javascript)\b/

/** A part of the bytes as text; null if they are none. Bytes that are declared as text need not be valid UTF-8. */
export function toTextPart(
  { bytes, mediaType }: ArtifactRecord,
  from: number,
  limitBytes: number,
): ArtifactPart | null {
  const offset = skipContinuation(bytes, Math.min(from, bytes.length), 1)
  const wantedEnd = Math.min(offset + limitBytes, bytes.length)
  const end = wantedEnd === bytes.length ? wantedEnd : skipContinuation(bytes, wantedEnd, -1)
  // A limit that is smaller than one character still moves on.
  const nextOffset = end > offset ? end : wantedEnd
  const part = bytes.subarray(offset, nextOffset)
  const text = decode(part, true) ?? (TEXTUAL.test(mediaType) ? decode(part, false) : undefined)
  return text === undefined ? null : { text, offset, nextOffset }
}

const LONGEST_CHARACTER = 4

/** The nearest place in this direction where a character of UTF-8 begins. */
function skipContinuation(bytes: Uint8Array, at: number, direction: 1 | -1): number {
  for (let moved = 0; moved < LONGEST_CHARACTER; moved += 1) {
    const place = at + moved * direction
    if (place <= 0 || place >= bytes.length || ((bytes[place] ?? 0) & 0xc0) !== 0x80) return place
  }
  return at
}

/** Undefined for bytes that are not valid, and for text with a NUL, which no text has. */
function decode(bytes: Uint8Array, isStrict: boolean): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: isStrict, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
