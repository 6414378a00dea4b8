import { z } from "zod"
import type { JsonObject } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { isProcessAlive, thisProcessIdentity } from "../process/identity.ts"

const identitySchema = lazily(() => z.object({ pid: z.number(), startedAt: z.string(), bootId: z.string() }))

/** What other processes need in order to tell whether this one lives. */
export function toWorkerIdentity(): JsonObject {
  return { ...thisProcessIdentity() }
}

/** Whether the process that a lease describes lives; undefined when it cannot be told from here. */
export function isWorkerAlive(data: JsonObject): boolean | undefined {
  const identity = identitySchema().safeParse(data)
  return identity.success ? isProcessAlive(identity.data) : undefined
}
