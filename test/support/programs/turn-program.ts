import { join } from "node:path"
import { createInterface } from "node:readline"
import { createRuntime, type Runtime } from "../../../src/app.ts"
import { isMeanwhileError, toErrorMessage } from "../../../src/base/error.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { TurnOrders, TurnReport } from "../chaos/turn-protocol.ts"
import { finishTurn, goOn } from "../chaos/turn-scenario.ts"
import { dieAtCommit } from "../chaos/die-at-commit.ts"
import { createPlugin } from "./story-plugin.ts"

/** A program made to be killed in mid-turn. Its model is another process; its tools append to a file that no crash shortens. */
const orders = JSON.parse(process.argv[2] ?? "") as TurnOrders
const { directory, session: id, baseUrl, leaseSeconds, engine, prompt, goesOn, atCommit, waits } = orders
const runtime = await createRuntime({
  dataDirectory: join(directory, "data"),
  environment: { STORY_KEY: "nobody-checks-this" },
  providers: { local: { baseUrl, apiKeyEnv: "STORY_KEY" } },
  model: "local/story",
  plugins: [createPlugin({ effectsFile: join(directory, "effects") })],
  permissions: allowAll,
  background: { leaseSeconds, stopGraceSeconds: 0.2 },
  ...(engine !== undefined && { engine }),
})
if (atCommit) dieAtCommit(runtime, atCommit)
report({ ready: true })

if (waits) void endWhenTold(runtime)
try {
  if (prompt !== undefined) {
    const session = await runtime.createSession({ id })
    report({ ended: (await session.send(prompt)).text })
  }
  if (!waits) await finish()
} catch (error) {
  report({ failed: toErrorMessage(error) })
}

async function finish(): Promise<void> {
  await finishTurn(runtime, () => report({ answered: true }))
  if (goesOn) {
    await goOn({ runtime }, { session: id }).catch((error: unknown) => {
      if (!isMeanwhileError(error, "not_found")) throw error
    })
  }
  await runtime.close()
  report({ finished: true })
  process.exit()
}

async function endWhenTold(opened: Runtime): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "finish") await finish()
    if (line !== "close") continue
    await opened.close()
    report({ finished: true })
    process.exit()
  }
}

function report(what: TurnReport): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}
