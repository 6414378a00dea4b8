/** The code of an error of the operating system, such as `ENOENT`; undefined for any other error. */
export function systemCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined
  return typeof error.code === "string" ? error.code : undefined
}

/** Undefined if the file or folder does not exist. */
export async function unlessMissing<Value>(looked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await looked
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw error
  }
}
