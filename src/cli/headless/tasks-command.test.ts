import { expect, test } from "vitest"
import { createCommand } from "./tasks-command.ts"

async function refusalOf(...words: string[]): Promise<string> {
  let told = ""
  const command = createCommand()
    .exitOverride()
    .configureOutput({ writeErr: (text) => (told += text) })
  await command.parseAsync(words, { from: "user" }).catch(() => {})
  return told
}

test("a word behind `tasks list` is refused as that, and another command of tasks with those there are", async () => {
  expect(await refusalOf("list", "foo")).toBe(
    'error: tasks list does not understand "foo". meanwhile tasks show ID shows one task\n',
  )
  expect(await refusalOf("foo")).toMatch(/^error: there is no command "foo" for tasks; there are list, show, /)
})
