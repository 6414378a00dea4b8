import type { GlobalOptions } from "./open-runtime.ts"

/** The store that is used here, for those who open no program; nothing: the one in the data folder. */
export async function findEngine({ engine }: GlobalOptions): Promise<{ readonly engine?: string }> {
  const { findEngineUrl } = await import("../program-engine.ts")
  const url = await findEngineUrl({
    workingDirectory: process.cwd(),
    environment: process.env,
    ...(engine !== undefined && { engine }),
  })
  return url === undefined ? {} : { engine: url }
}
