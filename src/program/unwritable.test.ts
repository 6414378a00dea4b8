import { chmodSync, chownSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../test/support/workplace.ts"
import { explainUnwritable } from "./unwritable.ts"

const NOBODY = 65_534
const failure = (code: string): Error => Object.assign(new Error(`${code}: refused`), { code })

test("a folder of one's own is named with its mode and the command that changes it", async () => {
  const folder = join(createFolder(), "it's mine")
  mkdirSync(folder)
  chmodSync(folder, 0o500)
  expect(await explainUnwritable(folder, failure("EACCES"))).toEqual({
    cause: `${folder} is yours, and its mode 500 keeps you from writing it`,
    fix: `chmod u+rwx '${folder.replace("'", `'\\''`)}'`,
  })
})

test("a folder of somebody else is named with its owner, and how to get it", async () => {
  const isRoot = process.getuid?.() === 0
  const folder = isRoot ? createFolder() : "/"
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const { cause, fix } = await explainUnwritable(folder, failure("EACCES"))
  expect(cause).toContain(`${folder} belongs to ${isRoot ? "the user 65534" : "root"} (mode `)
  expect(fix).toBe(`Have it given to you: sudo chown -R ${process.getuid?.()} ${folder}`)
})

test("a read-only disk, a full one, and a path on which no folder can be made are told apart", async () => {
  const folder = createFolder()
  const of = (code: string) => explainUnwritable(folder, failure(code))
  expect(await of("EROFS")).toEqual({
    cause: `${folder} lies on a disk that is mounted read-only`,
    fix: expect.stringContaining("Mount that disk so that it can be written"),
  })
  expect(await of("ENOSPC")).toEqual({ cause: `the disk of ${folder} is full`, fix: "Make room there" })
  expect(await of("ENOTDIR")).toEqual({ cause: "a part of that path is a file", fix: null })
  expect(await of("EPERM")).toEqual({ cause: `the system does not let you write ${folder}`, fix: null })
})
