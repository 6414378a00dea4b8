import { toStoredLease } from "../../../rules/rows/lease-row.ts"
import { LEASE_COLUMNS, toServerWord } from "../../read/lease-reads.ts"
import { storableOf } from "../../schema/storable.ts"
import type { Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import type { Questions } from "./questions.ts"

export function askForLeases(questions: Questions<LockedRows>, { rows }: Wants): void {
  const keys = storableOf(rows.lease)
  if (keys.length === 0) return
  questions.ask(
    "leases",
    (parameter) => `SELECT ${LEASE_COLUMNS}
      FROM leases WHERE key = ANY(${parameter(keys)}::text[]) ORDER BY key FOR UPDATE`,
  )
}

export function learnLeases(answers: Partial<LockedRows>, { rows }: Wants, { leases }: WorkingSet): void {
  for (const key of rows.lease.values()) leases.learn(key, undefined)
  for (const row of answers.leases ?? []) leases.learn(row.key, toStoredLease(row), toServerWord(row))
}
