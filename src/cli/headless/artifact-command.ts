import { writeFileSync } from "node:fs"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { TaskContext } from "../command/command.ts"
import { formatArtifact, plain, plainLines, shortId } from "../format/format.ts"
import { tellAside } from "../start/find-engine.ts"

type Artifact = Awaited<ReturnType<TaskContext["desk"]["tasks"]["artifacts"]>>[number]

export interface ArtifactTarget {
  /** A name, or the beginning of a hash. Undefined: the only artifact of the task. */
  readonly wanted: string | undefined
  /** The file that the bytes are written to, in place of standard output. */
  readonly path: string | undefined
}

/** `meanwhile tasks artifact`: writes the bytes of an artifact and nothing else; words about it go to standard error. */
export async function writeArtifact(id: string, target: ArtifactTarget, { desk }: TaskContext): Promise<void> {
  const chosen = await choose(desk, id, target.wanted)
  const artifact = await desk.tasks.artifact(chosen.hash)
  if (!artifact) throw new MeanwhileError("not_found", `${toName(chosen)} is no longer kept.`)
  const { bytes } = artifact
  if (target.path !== undefined) return writeFile(target.path, chosen, bytes)
  if (!process.stdout.isTTY) return void process.stdout.write(bytes)
  const text = toText(bytes)
  if (text === undefined) {
    const message = `${toName(chosen)} is binary (${formatArtifact(chosen)}), which a terminal cannot show. Write it to a file with --output FILE, or into a pipe.`
    throw new MeanwhileError("invalid_input", message)
  }
  // A terminal acts on control characters: a pipe and a file get the bytes as they are.
  process.stdout.write(plainLines(text))
}

async function choose({ tasks }: TaskContext["desk"], id: string, wanted: string | undefined): Promise<Artifact> {
  const [only, ...others] = await tasks.artifacts(id, wanted)
  if (only && others.length === 0) return only
  const all = await tasks.artifacts(id)
  const task = `[${shortId((await tasks.find(id)).task.id)}]`
  if (all.length === 0) throw new MeanwhileError("not_found", `${task} keeps no artifacts.`)
  const list = all.map((artifact) => `\n  ${formatArtifact(artifact)}`).join("")
  if (only) {
    const message = `${task} keeps several artifacts: give the name of one, or the first characters of its hash.${list}`
    throw new MeanwhileError("invalid_input", message)
  }
  throw new MeanwhileError("not_found", `${task} keeps no artifact ${JSON.stringify(plain(wanted ?? ""))}:${list}`)
}

function writeFile(path: string, artifact: Artifact, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes)
  } catch (error) {
    const message = `${path} cannot be written: ${toErrorMessage(error)}. Name another file: --output FILE`
    throw new MeanwhileError("invalid_input", message, {}, { cause: error })
  }
  tellAside(`${toName(artifact)} is in ${path}, ${bytes.length} bytes`)
}

const toName = ({ name }: Artifact): string => plain(name).replaceAll(/\s+/g, " ")

/** Undefined for bytes that are not text. */
function toText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
