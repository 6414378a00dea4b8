/**
 * The changes that a call makes in the world, beyond returning information. `run_as`: acts as another user; `unknown`:
 * nobody can say. Reading is no effect.
 */
export const EFFECTS = ["write", "delete", "install", "send", "run_as", "unknown"] as const
export type Effect = (typeof EFFECTS)[number]
