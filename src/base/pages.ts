interface Page<Item> {
  readonly items: readonly Item[]
  /** Absent on the last page. */
  readonly cursor?: string
}

/** Page after page, one at a time: whoever has enough stops. `read` is given the place to go on from. */
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
