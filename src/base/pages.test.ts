import { expect, test } from "vitest"
import { throughPages } from "./pages.ts"

const PAGES = new Map([
  [undefined, { items: [1, 2], cursor: "second" }],
  ["second", { items: [], cursor: "third" }],
  ["third", { items: [3] }],
])

function open() {
  const asked: (string | undefined)[] = []
  const pages = throughPages(async ({ cursor }) => {
    asked.push(cursor)
    return PAGES.get(cursor) ?? { items: [] }
  })
  return { asked, pages }
}

test("every page is read once, even after an empty one", async () => {
  const { asked, pages } = open()
  expect(await Array.fromAsync(pages)).toEqual([[1, 2], [], [3]])
  expect(asked).toEqual([undefined, "second", "third"])
})

test("the next page is not read when the consumer stops early", async () => {
  const { asked, pages } = open()
  for await (const items of pages) if (items.includes(2)) break
  expect(asked).toEqual([undefined])
})
