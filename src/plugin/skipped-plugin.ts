export const SKIP_REASONS = [
  "model_requirement",
  "failed_to_load",
  "failed_to_initialize",
  "wrong_shape",
  "duplicate",
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/** A plugin that was asked for and is not there, with a sentence that says why. */
export interface SkippedPlugin {
  /** Its name, or the package or path it was to come from when its name never became known. */
  readonly name: string
  readonly reason: SkipReason
  readonly message: string
}
