import { mkdirSync, rmSync, statfsSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createRuntime } from "../../../src/app.ts"
import { playOutage } from "../session/outage-scenario.ts"

/** Plays an outage in a folder whose file system is small, by filling it, and prints what became of everything. */
const [directory = "", spool = ""] = process.argv.slice(2)
const ballast = join(directory, "ballast")
const dataDirectory = join(directory, "data")
mkdirSync(dataDirectory)
// Commands print to another disk, which has room.
symlinkSync(spool, join(dataDirectory, "spool"))
const told: string[] = []

const report = await playOutage({
  told,
  dataDirectory,
  open: (options) =>
    createRuntime({
      ...options,
      storeWait: { tell: (line) => void told.push(line) },
    }),
  async refuse() {
    const { bavail, bsize } = statfsSync(directory)
    writeFileSync(ballast, Buffer.alloc(bavail * bsize))
  },
  allow: async () => rmSync(ballast),
})
process.stdout.write(JSON.stringify({ ...report, told }))
