import { expect, test } from "vitest"
import { runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

/** A person with a data folder of their own, who shares the store with others. */
function createPerson(engine: string) {
  const directory = createFolder()
  const words = ["--engine", engine]
  return {
    chat: () => startPiped({ directory, arguments: words }),
    run: (prompt: string) => runToEnd({ directory, arguments: ["run", prompt, ...words] }),
    tasks: async (...more: readonly string[]) =>
      (await runToEnd({ directory, arguments: ["tasks", ...more, ...words] })).stdout,
  }
}

/** An agent, and a command that it runs, both used by the conversation. */
const AGENT = "start an agent to run `echo asked-of-an-agent`"

async function listTitles(person: ReturnType<typeof createPerson>): Promise<readonly string[]> {
  const lines = (await person.tasks("list", "--json")).trim().split("\n")
  return lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { title: string }).title)
}

test("in a shared store a chat clears only its conversation and the person's own tasks beside it", async () => {
  const engine = await createSharedStore()
  const [one, other] = [createPerson(engine), createPerson(engine)]
  expect(await one.run(AGENT)).toMatchObject({ exitCode: 0 })
  const beside = other.chat()
  beside.type("/start echo of-the-other")
  await beside.shows(/\] completed in/)
  const chat = one.chat()
  chat.type("/start echo of-the-one")
  await chat.shows(/\] completed in/)
  chat.type("/clear")
  await chat.shows(/^1 ended task of yours removed\.\n/m)
  chat.endInput()
  expect(await chat.exited).toBe(0)
  const left = await listTitles(one)
  expect(left).toEqual(expect.arrayContaining(["echo of-the-other", expect.stringContaining("asked-of-an-agent")]))
  expect(left).not.toContain("echo of-the-one")
})

test("`tasks clear` clears tasks begun with the data folder, with those of agents, and with --all the whole store", async () => {
  const engine = await createSharedStore()
  const [one, other, nobody] = [createPerson(engine), createPerson(engine), createPerson(engine)]
  expect(await one.run(AGENT)).toMatchObject({ exitCode: 0 })
  const begun = (await listTitles(one)).length
  expect(await other.run(AGENT)).toMatchObject({ exitCode: 0 })
  expect(await listTitles(one)).toHaveLength(2 * begun)
  expect(await nobody.tasks("clear")).toBe("0 ended tasks of yours removed.\n")
  expect(await one.tasks("clear")).toBe(`${begun} ended task${begun === 1 ? "" : "s"} of yours removed.\n`)
  expect(await one.tasks("clear")).toBe("0 ended tasks of yours removed.\n")
  expect(await listTitles(one)).toHaveLength(begun)
  expect(await nobody.tasks("clear", "--all")).toBe(`${begun} ended task${begun === 1 ? "" : "s"} removed.\n`)
  expect(await listTitles(one)).toEqual([])
})
