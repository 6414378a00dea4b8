import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import { createTask } from "../../../src/engine/suite/samples.ts"

/** Commits so many tasks one after another, and ends without closing the store: folding the log in waits for the disk, too. */
const [path, count] = process.argv.slice(2)
if (!path) throw new Error("usage: commit-tasks PATH COUNT")
const engine = await createEmbeddedEngine({ path })
for (let left = Number(count); left > 0; left--) await createTask(engine)
process.exit(0)
