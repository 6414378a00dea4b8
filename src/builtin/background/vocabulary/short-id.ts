const SHORT_ID_CHARACTERS = 8

/** As much of an id as is shown. Every command takes it, and says so where it means several. */
export function toShortId(id: string): string {
  return id.slice(0, SHORT_ID_CHARACTERS)
}
