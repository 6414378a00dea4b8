/** The whole test file that the author of another engine has to write. */
export const ENGINE_TEST = `
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createEmbeddedEngine } from "meanwhile/engines"
import { createManualClock } from "meanwhile/testing"
import { describeEngine } from "meanwhile/testing/engine"

createManualClock().advance(1)

describeEngine("installed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-installed-"))
  const opened = []
  const open = async () => {
    const engine = await createEmbeddedEngine({ path: join(folder, "store.sqlite"), pollSharedMs: 5 })
    opened.push(engine)
    return engine
  }
  const engine = await open()
  return {
    engine,
    another: open,
    reopen: () => engine.close().then(open),
    async dispose() {
      await Promise.all(opened.map((one) => one.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
})
`
