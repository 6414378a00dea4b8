import { createTask, RUNNING } from "../../../src/engine/suite/samples.ts"
import { isMeanwhileError } from "../../../src/base/error.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"

/** A second process of tests. Usage: `write PATH COUNT`, `write PATH endlessly`, `open PATH` or `listen PATH`. */
const [mode, path = "", count] = process.argv.slice(2)

/** One line per fact, written at once, so that a kill loses none of them. */
function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

try {
  const engine = await createEmbeddedEngine({ path })
  if (mode === "listen") {
    engine.bus.subscribe(() => undefined)
    engine.dispatcher.onOffer(() => undefined)
  } else if (mode === "write") {
    const lane = async (share: number) => {
      for (let written = 0; written < share; written++) say((await createTask(engine, RUNNING)).id)
    }
    const share = count === "endlessly" ? Number.POSITIVE_INFINITY : Number(count) / 10
    await Promise.all(Array.from({ length: 10 }, () => lane(share)))
    await engine.close()
  } else {
    await engine.close()
  }
  say("done")
} catch (error) {
  say(isMeanwhileError(error) ? error.code : String(error))
}
