import type { Query } from "../../connection/database.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { createBulk } from "./bulk.ts"
import { removeOutputs } from "./remove-outputs.ts"
import { removeArtifacts, writeArtifacts } from "./write-artifacts.ts"
import { sweepDependents, writeDependents } from "./write-dependents.ts"
import { removeDocuments, writeDocuments } from "./write-documents.ts"
import { removeGroups, writeGroups } from "./write-groups.ts"
import { removeLeases, writeLeases } from "./write-leases.ts"
import { removeSessions, writeSessions } from "./write-sessions.ts"
import { removeTasks, writeTasks } from "./write-tasks.ts"

/** Sends what the rules have made of the rows: what goes first, then what is new or changed. */
export function writeRows(query: Query, set: WorkingSet): void {
  const bulk = createBulk(query)
  removeArtifacts(bulk, set)
  sweepDependents(bulk, set)
  removeGroups(bulk, set)
  removeSessions(bulk, set)
  removeLeases(bulk, set)
  removeDocuments(bulk, set)
  removeTasks(bulk, set)
  removeOutputs(bulk, set)
  writeTasks(bulk, set)
  writeDependents(bulk, set)
  writeGroups(bulk, set)
  writeSessions(bulk, set)
  writeLeases(bulk, set)
  writeDocuments(bulk, set)
  writeArtifacts(bulk, set)
}
