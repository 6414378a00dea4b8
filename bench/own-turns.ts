import { z } from "zod"
import type * as meanwhileLibrary from "../src/index.ts"
import type { Operation } from "../src/task/operation.ts"
import type { CommitOptions } from "../src/task/store.ts"
import { createTurnModel, LOOKUP_TOOL, lookUpWeather } from "./turn-model.ts"
import type { CommitCounts, Side } from "./turn-side.ts"

export type Meanwhile = typeof meanwhileLibrary

export interface OwnSideOptions {
  /** The library as it is published. */
  readonly meanwhile: Meanwhile
  /** Where conversations are kept. Null: in memory. */
  readonly kept: { readonly folder: string; readonly synchronous: "normal" | "full" } | null
}

/** Conversations of Meanwhile. If they are kept, what the model says is also passed on while the model says it. */
export async function createOwnSide({ meanwhile, kept }: OwnSideOptions): Promise<Side> {
  const { createRuntime, definePlugin, defineTool } = meanwhile
  const lookUp = defineTool({
    name: LOOKUP_TOOL,
    description: "The weather of a city.",
    input: z.object({ city: z.string() }),
    run: lookUpWeather,
  })
  const runtime = await createRuntime({
    model: createTurnModel(),
    plugins: [definePlugin({ kind: "tool", name: "weather", tools: [lookUp] })],
    ...(kept && { dataDirectory: kept.folder, synchronous: kept.synchronous }),
  })
  const commits = countCommits(runtime.engine.store)

  return {
    async converse() {
      const session = await runtime.createSession()
      return {
        async ask(question) {
          if (!kept) return (await session.send(question)).text
          let printed = ""
          await session.send(question, {
            onOutput(source, text) {
              if (source === "model") printed += text
            },
          })
          return printed
        },
        [Symbol.asyncDispose]: () => session.close(),
      }
    },
    commits,
    [Symbol.asyncDispose]: () => runtime.close(),
  }
}

/** Counts all commits but the upkeep of every few seconds (leases, durations of calls), which does not grow with the turns. */
function countCommits(store: {
  commit(operations: readonly Operation[], options?: CommitOptions): Promise<unknown>
}): () => CommitCounts {
  let commits = 0
  let waitingCommits = 0
  const { commit } = store
  store.commit = (operations, options) => {
    if (!operations.every(({ op }) => /^(?:lease|document)\./.test(op))) {
      commits += 1
      if (options?.waitsForDisk !== false) waitingCommits += 1
    }
    return commit(operations, options)
  }
  return () => ({ commits, waitingCommits })
}
