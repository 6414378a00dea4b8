/** Far more than anything here takes on a busy machine: what has not come by then is lost. */
const PATIENCE_MS = 120_000

/** Fails with what `describe` can say, instead of waiting for ever. */
export async function withPatience<Result>(
  work: Promise<Result>,
  describe: () => string | Promise<string>,
): Promise<Result> {
  const { promise: overdue, resolve } = Promise.withResolvers<typeof OVERDUE>()
  const timer = setTimeout(resolve, PATIENCE_MS, OVERDUE)
  try {
    const result = await Promise.race([work, overdue])
    if (result === OVERDUE) throw new Error(`nothing goes on any more:\n${await describe()}`)
    return result
  } finally {
    clearTimeout(timer)
  }
}

const OVERDUE = Symbol("overdue")
