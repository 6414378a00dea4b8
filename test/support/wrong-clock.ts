import { fileURLToPath, pathToFileURL } from "node:url"

const HOUR_MS = 3_600_000
const LOADED_FIRST = fileURLToPath(new URL("move-clock.ts", import.meta.url))

/** Clocks of other machines that are wrong. */
export const WRONG_CLOCKS = [
  { wrong: "two hours ahead", byMs: 2 * HOUR_MS },
  { wrong: "two hours behind", byMs: -2 * HOUR_MS },
] as const

/** The environment of a program whose wall clock is wrong by `byMs`. */
export function toWrongClock(byMs: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${pathToFileURL(LOADED_FIRST).href}`, MEANWHILE_TEST_CLOCK_MS: String(byMs) }
}
