import { expect, test } from "vitest"
import { readPoolSize, toClientSettings } from "./client-settings.ts"

const URL_OF_STORE = "postgres://me@host/work"

test("a URL may say how many connections there are at once", () => {
  expect(readPoolSize(URL_OF_STORE)).toBeUndefined()
  expect(readPoolSize(`${URL_OF_STORE}?sslmode=disable&pool_size=4`)).toBe(4)
  expect(readPoolSize(`${URL_OF_STORE}?pool_size=100`)).toBe(100)
  expect(() => toClientSettings({ url: `${URL_OF_STORE}?pool_size=25` })).not.toThrow()
})

test.each(["3", "101", "0", "-5", "4.5", "1e1", "many", ""])(
  "pool_size=%s is refused, with what it may be, by everybody who uses the URL",
  (value) => {
    const url = `${URL_OF_STORE}?pool_size=${value}`
    expect(() => readPoolSize(url)).toThrow(/pool_size .* whole number from 4 to 100/)
    expect(() => toClientSettings({ url })).toThrow(/pool_size/)
  },
)
