import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSubagentPlugin } from "../../../src/builtin/subagent/subagent-plugin.ts"
import type { ConnectedModel, ProviderResponse } from "../../../src/plugin/model.ts"
import { NO_TOKENS } from "../../../src/plugin/token-usage.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { removeTestStore } from "../test-engine.ts"
import type { CrashPoint, Life } from "./mortal-engine.ts"
import { type LifeParts, openLife, type OpenedLife } from "./open-life.ts"

/** Where runtimes with subagents live and die, one after the other, on one store. */
export interface AgentHouse {
  /** What the model was asked, in all lives of the program. */
  readonly asked: string[]
  begin(crash?: CrashPoint): Promise<OpenedLife>
  remove(): Promise<void>
}

export interface HouseModelParts extends LifeParts {
  readonly asked: string[]
}

export function createAgentHouse(toModel: (parts: HouseModelParts) => ConnectedModel): AgentHouse {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-agents-"))
  const asked: string[] = []
  const engines: Engine[] = []
  return {
    asked,
    async begin(crash) {
      const opened = await openLife(directory, engines.length + 1, crash, (parts) => ({
        model: toModel({ ...parts, asked }),
        plugins: [createSubagentPlugin({ directories: [] })],
        background: { stopGraceSeconds: 0.1, leaseSeconds: 60 },
      }))
      engines.push(opened.engine)
      return opened
    },
    async remove() {
      await Promise.all(engines.map((engine) => engine.close()))
      await removeTestStore(directory)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export const say = (text: string): ProviderResponse => ({
  message: { role: "assistant", parts: [{ type: "text", text }] },
  finish: "stop",
  usage: NO_TOKENS,
})

/** Waits for one turn of the event loop, or for ever if the life is over. */
export const breathe = (life: Life): Promise<void> => life.guard(new Promise<void>((resolve) => setImmediate(resolve)))
