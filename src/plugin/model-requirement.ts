/** True when one of the patterns matches the model, with its provider or without, when there are none, or when no model is known yet. */
export function meetsModelRequirements(patterns: readonly string[] | undefined, model: string | undefined): boolean {
  if (!patterns || patterns.length === 0 || model === undefined) return true
  const name = model.slice(model.indexOf("/") + 1)
  return patterns.some((pattern) => [model, name].some((known) => toExpression(pattern).test(known)))
}

/** `*` is any run of characters, `?` any one; everything else is itself. */
function toExpression(glob: string): RegExp {
  const source = glob
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".")
  return new RegExp(`^${source}$`, "s")
}
