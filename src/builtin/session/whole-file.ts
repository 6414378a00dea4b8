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
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
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
