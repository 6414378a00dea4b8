import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import { createFolder } from "../folder.ts"
import type { Meanwhile } from "../own-turns.ts"
import { readPeakBytes } from "../peak-memory.ts"
import { ANSWER, QUESTION } from "../turn-model.ts"
import { type Side, type SideName, SIDES, takeTurns } from "../turn-side.ts"

/** Takes all turns once for each line on standard input, and answers with a line of JSON. */
const [name, entry, atOnce] = process.argv.slice(2)
const side = SIDES.find((one) => one === name)
if (!side || !entry || !atOnce) throw new Error(`usage: turns ${SIDES.join("|")} ENTRY AT_ONCE`)

for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await measure(side, entry))}\n`)
}

async function measure(name: SideName, entry: string) {
  using folder = createFolder("turns")
  await using opened = await open(name, entry, folder.path)
  const ms = await takeTurns(opened, { question: QUESTION, answer: ANSWER, atOnce: Number(atOnce) })
  return { ms, ...opened.commits(), peakBytes: readPeakBytes() }
}

/** Each process loads its own side only. */
async function open(name: SideName, entry: string, folder: string): Promise<Side> {
  if (name === "generateText" || name === "streamText") {
    const { createAiSdkSide } = await import("../reference/ai-sdk-turns.ts")
    return createAiSdkSide(name)
  }
  const { createOwnSide } = await import("../own-turns.ts")
  const meanwhile = (await import(pathToFileURL(entry).href)) as Meanwhile
  return createOwnSide({ meanwhile, kept: name === "memory" ? null : { folder, synchronous: name } })
}
