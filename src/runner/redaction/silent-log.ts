import type { Log } from "../../plugin/context.ts"

const ignore = (): void => {}

export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
