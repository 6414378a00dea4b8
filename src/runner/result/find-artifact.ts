import { MeanwhileError } from "../../base/error.ts"
import type { ArtifactRecord } from "../../task/document.ts"
import { isIdText, toGivenWorkspace } from "../../task/given-id.ts"
import type { TaskId } from "../../task/id.ts"
import { isArtifactHash } from "../../task/patch.ts"
import type { HasStore } from "../run/scope.ts"

/** An artifact, and the first of the tasks that keep it. */
export type KeptArtifact = ArtifactRecord & { readonly taskId: TaskId }

/** Finds an artifact that a task of the workspace keeps. One that no task keeps is nobody's to read by its hash. */
export async function findArtifact({ store }: HasStore, given: string, workspace?: string): Promise<KeptArtifact> {
  const wanted = isIdText(given) ? given : "(no text)"
  const text = wanted.trim().toLowerCase()
  const hash = text.startsWith("sha256:") ? text : `sha256:${text}`
  const found = isArtifactHash(hash) ? await store.artifact(toGivenWorkspace(workspace), hash) : undefined
  if (found?.taskId) return { ...found, taskId: found.taskId }
  const message = `No task here keeps an artifact with the hash ${wanted}. It went with its task, or the hash is not whole: it is \`sha256:\` and 64 digits.`
  throw new MeanwhileError("not_found", message, { hash: wanted })
}
