import { existsSync } from "node:fs"
import { link, mkdir, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

const OWNER_ONLY = 0o600

/** Writes a file whole or not at all, even in a crash: a draft beside it is moved over it. Only its owner can read it. */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  await throughDraft(path, text, (draft) => rename(draft, path))
}

/** As `writeWholeFile`, but rejects with `EEXIST` if the file exists. */
export async function createWholeFile(path: string, text: string): Promise<void> {
  await throughDraft(path, text, (draft) => link(draft, path))
}

async function throughDraft(path: string, text: string, place: (draft: string) => Promise<void>): Promise<void> {
  await makeFolder(dirname(path))
  const draft = `${path}.${crypto.randomUUID()}.draft`
  try {
    await using file = await open(draft, "wx", OWNER_ONLY)
    await file.writeFile(text)
    await file.sync()
    await place(draft)
  } finally {
    await rm(draft, { force: true })
  }
}

/** One at a time: where none can be made, as below `/proc`, Node's recursive option tries without end. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return
  const above = dirname(path)
  if (above !== path) await makeFolder(above)
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    // Somebody else may have made it just now.
    if (!existsSync(path)) throw error
  })
}
