import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { createRuntime } from "../../src/app.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool, handBack } from "../../src/plugin/tool.ts"
import { runToEnd, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** Control characters that would act on a terminal, and bytes that are no text. */
const KEPT: Readonly<Record<string, Buffer>> = {
  "notes.txt": Buffer.from("first\n\u001b[2Jsecond\n"),
  "dough.bin": Buffer.from([0, 1, 2, 255]),
}

const oven = defineTool({
  name: "oven",
  description: "Keeps what it is asked for.",
  input: z.object({ names: z.array(z.string()) }),
  background: { mode: "always" },
  run: async ({ names }, { artifacts }) => {
    const put = (name: string) => artifacts.put(name, "text/plain", KEPT[name] ?? Buffer.of())
    return handBack({
      digest: [],
      facts: {},
      artifacts: await Promise.all(names.map(put)),
      nextSteps: [],
      payload: null,
    })
  },
})

async function bake(directory: string, names: readonly string[]): Promise<string> {
  await using meanwhile = await createRuntime({
    dataDirectory: join(directory, ".meanwhile"),
    plugins: [definePlugin({ kind: "tool", name: "kitchen", tools: [oven] })],
  })
  const { id } = await meanwhile.tasks.start({ tool: "oven", input: { names } })
  await meanwhile.tasks.result(id, { waitMs: 60_000 })
  return id
}

test("tasks artifact writes the bytes of an artifact, and binary ones to no terminal", async () => {
  const directory = createFolder()
  const [alone, several] = [await bake(directory, ["dough.bin"]), await bake(directory, Object.keys(KEPT))]
  const artifact = (...words: readonly string[]) =>
    runToEnd({ directory, arguments: ["tasks", "artifact", ...words], encoding: "latin1" })

  expect(await artifact(alone)).toEqual({ exitCode: 0, stdout: KEPT["dough.bin"]?.toString("latin1"), stderr: "" })
  expect((await artifact(several.slice(0, 12), "notes.txt")).stdout).toBe(KEPT["notes.txt"]?.toString("latin1"))
  const unnamed = await artifact(several)
  expect(unnamed).toMatchObject({ exitCode: 2, stdout: "" })
  const [, beginning = ""] = /dough\.bin: text\/plain, 4 bytes, (sha256:[0-9a-f]{12})$/m.exec(unnamed.stderr) ?? []
  const written = await artifact(several, beginning, "--output", "copy.bin")
  expect(written).toMatchObject({ exitCode: 0, stdout: "", stderr: "dough.bin is in copy.bin, 4 bytes\n" })
  expect(readFileSync(join(directory, "copy.bin"))).toEqual(KEPT["dough.bin"])
  expect(await artifact(several, "notes.txt", "--output", "no/such/folder")).toMatchObject({ exitCode: 2, stdout: "" })
  expect((await artifact(several, "bread")).stderr).toContain('keeps no artifact "bread"')

  const shown = await runToEnd({ directory, arguments: ["tasks", "show", several] })
  expect(shown.stdout).toMatch(/^artifacts notes\.txt: text\/plain, 17 bytes, sha256:[0-9a-f]{12}\n {10}dough\.bin: /m)

  const refused = startInTerminal({ directory, arguments: ["tasks", "artifact", alone] })
  await refused.shows(/dough\.bin is binary/)
  expect(await refused.exited).toBe(2)
  const text = startInTerminal({ directory, arguments: ["tasks", "artifact", several, "notes.txt"] })
  await text.shows(/first\r\nsecond/)
  expect(await text.exited).toBe(0)
})
