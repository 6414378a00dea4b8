import { execFileSync } from "node:child_process"
import { readFileSync, readlinkSync } from "node:fs"
import type { JsonValue } from "../../base/json.ts"
import { isStillAlive, readProcess } from "./table.ts"

/**
 * Names one process for ever: a pid alone is used again. JSON, so that a lease or a file can hold it.
 * `bootId` also names the pid namespace (a container has its own).
 */
export type ProcessIdentity = {
  readonly pid: number
  readonly startedAt: string
  readonly bootId: string
}

export function thisProcessIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: readProcess(process.pid)?.startedAt ?? "", bootId: readBootId() }
}

/** Undefined when this process cannot know: the other one runs in another container of the same machine. */
export function isProcessAlive(identity: ProcessIdentity): boolean | undefined {
  const bootId = readBootId()
  if (identity.bootId !== bootId) {
    return identity.bootId.split("/")[0] === bootId.split("/")[0] ? undefined : false
  }
  return isStillAlive(identity)
}

/** Undefined when `data` does not have the shape of an identity. */
export function toProcessIdentity(data: JsonValue): ProcessIdentity | undefined {
  const { pid, startedAt, bootId } = Object(data) as Partial<ProcessIdentity>
  if (typeof pid !== "number" || typeof startedAt !== "string" || typeof bootId !== "string") return undefined
  return { pid, startedAt, bootId }
}

let ofThisProcess: string | undefined

/** Changes with every start of the machine, and stays the same as long as this process lives. */
export function readBootId(): string {
  return (ofThisProcess ??= findBootId())
}

function findBootId(): string {
  if (process.platform !== "linux") {
    return execFileSync("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim()
  }
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
  const processNumbers = readlinkSync("/proc/self/ns/pid").replace(/\D/g, "")
  return `${boot}/${processNumbers}`
}

export function encodeIdentity(identity: ProcessIdentity): string {
  return [identity.pid, identity.startedAt, identity.bootId].join(" | ")
}

export function decodeIdentity(text: string): ProcessIdentity | undefined {
  const [pid, startedAt, bootId] = text.split(" | ")
  if (pid === undefined || startedAt === undefined || bootId === undefined) return undefined
  return { pid: Number(pid), startedAt, bootId }
}
