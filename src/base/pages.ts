interface Page<Item> {
  readonly items: readonly Item[]
  /** Absent on the last page. */
  readonly cursor?: string
}

/** Reads page after page, lazily: a consumer that has enough stops reading. `read` gets the cursor of the next page. */
export async function* throughPages<Item>(
  read: (from: { readonly cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[], void> {
  let cursor: string | undefined
  do {
    const page = await read(cursor === undefined ? {} : { cursor })
    yield page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}
