/** True when one of the patterns matches the model, when there are none, or when no model is known yet. */
export function meetsModelRequirements(patterns: readonly string[] | undefined, model: string | undefined): boolean {
  if (!patterns || patterns.length === 0 || model === undefined) return true
  return patterns.some((pattern) => toExpression(pattern).test(model))
}

/** `*` is any run of characters, `?` any one; everything else is itself. */
function toExpression(glob: string): RegExp {
  const source = glob
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".")
  return new RegExp(`^${source}$`, "s")
}
