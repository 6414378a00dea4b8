import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { NAMESPACE_FILE, readNamespace, removeAbandoned } from "./run-folder.ts"
import { createFolder } from "./workplace.ts"

const TWO_DAYS_AGO = new Date(Date.now() - 172_800_000)

function makeRunFolder(parent: string, name: string, namespace = readNamespace()): string {
  const folder = join(parent, name)
  mkdirSync(folder)
  writeFileSync(join(folder, NAMESPACE_FILE), namespace)
  return folder
}

test("folders of runs that were killed go; those of runs that may live stay", () => {
  const parent = createFolder()
  const { pid } = spawnSync("true")
  makeRunFolder(parent, `meanwhile-${pid}-killed`)
  makeRunFolder(parent, `meanwhile-${process.pid}-lives`)
  makeRunFolder(parent, `meanwhile-${pid}-elsewhere`, "another")
  utimesSync(makeRunFolder(parent, `meanwhile-${pid}-old`, "another"), TWO_DAYS_AGO, TWO_DAYS_AGO)
  makeRunFolder(parent, "meanwhile-test-x")
  removeAbandoned(parent)
  const kept = [`meanwhile-${pid}-elsewhere`, `meanwhile-${process.pid}-lives`, "meanwhile-test-x"]
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted())
})

test("a folder that cannot be removed does not keep the others from being removed", () => {
  const parent = createFolder()
  const { pid } = spawnSync("true")
  for (const name of ["a", "b", "c"]) makeRunFolder(parent, `meanwhile-${pid}-${name}`)
  removeAbandoned(parent, (folder) => {
    if (folder.endsWith("-b")) throw new Error("It is another user's.")
    rmSync(folder, { recursive: true })
  })
  expect(readdirSync(parent)).toEqual([`meanwhile-${pid}-b`])
})
