import { link, mkdir, open, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { systemCodeOf } from "../../base/system-error.ts"

const FILE = "folder-id"
const ID = /^[0-9a-f-]{36}$/

/**
 * The id of a data folder. It differs even from that of a folder of the same path on a machine of the same name. Made
 * once, and kept in the folder, so that it moves with the folder. Null when nothing can be kept there.
 */
export async function readDataFolderId(folder: string): Promise<string | null> {
  const path = join(folder, FILE)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return (await read(path)) ?? (await create(path))
  } catch {
    return null
  }
}

async function read(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemCodeOf(error) === "ENOENT") return ""
    throw error
  })
  return ID.test(text.trim()) ? text.trim() : null
}

/** The file is whole when it appears. If several processes make one at the same moment, the first counts for all. */
async function create(path: string): Promise<string | null> {
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    await using file = await open(draft, "wx", 0o600)
    await file.writeFile(`${crypto.randomUUID()}\n`)
    await file.sync()
    await link(draft, path).catch((error: unknown) => {
      if (systemCodeOf(error) !== "EEXIST") throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return read(path)
}
