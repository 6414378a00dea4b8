import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMigratedFile } from "./migrated-file.ts"
import { createSubject, type EngineSubject } from "../../../src/engine/suite/subject.ts"
import { createEmbeddedEngine, type EmbeddedEngineOptions } from "../../../src/engine/embedded/engine.ts"

export async function createFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "meanwhile-store-"))
  return { path: join(folder, "store.sqlite"), remove: () => rm(folder, { recursive: true, force: true }) }
}

/** A store in a folder of its own, for the shared suite. No test can cut the power, so no commit waits for the disk. */
export async function createTestStore(
  options: Partial<EmbeddedEngineOptions> = {},
): Promise<EngineSubject & { readonly path: string }> {
  const { path, remove } = await createFolder()
  await createMigratedFile(path)
  const open = () => createEmbeddedEngine({ path, pollSharedMs: 5, synchronous: "normal", ...options })
  return { path, ...(await createSubject(open, remove)) }
}
