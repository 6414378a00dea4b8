import { createHash } from "node:crypto"
import type { ArtifactHash } from "../../task/id.ts"
import type { Handlers } from "./handler.ts"
import { requireTask } from "./refusal.ts"
import type { Tables } from "./tables.ts"

export function createArtifactHandlers({ tasks, artifacts }: Tables): Pick<Handlers, "artifact.put"> {
  return {
    "artifact.put"({ workspace, taskId, mediaType, bytes }) {
      const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}` as ArtifactHash
      const task = taskId === null ? null : requireTask(tasks, taskId).number
      artifacts.put({ workspace, hash, mediaType, bytes }, task)
      return hash
    },
  }
}
