import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { openProgram } from "../../src/program/open-program.ts"
import { renderConfig } from "../../src/program/init.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"

test("001-44: the terminal program enables reports for every session it opens", async () => {
  const directory = createFolder()
  const model = createScriptedModel([{ calls: [{ tool: "gated" }] }, "It runs.", "The bread is ready."])
  const program = await openProgram({
    dataDirectory: join(directory, "data"),
    workingDirectory: directory,
    homeDirectory: join(directory, "home"),
    environment: { PATH: process.env["PATH"] },
    trust: true,
    model,
    notify: () => {},
  })
  onTestFinished(() => program.close())
  const gated = createGatedTool({ background: { mode: "always" } })
  await program.plugins.register(definePlugin({ kind: "tool", name: "test", tools: [gated.tool] }))
  const session = await program.createSession()
  const published = new Promise<string>((resolve) => {
    session.on((event) => event.type === "report.published" && resolve(event.report.text))
  })
  await session.send("bake")
  const call = await gated.call(1)
  call.finish("a loaf")
  expect(await published).toBe("The bread is ready.")
})

test("001-45: a configuration that is generated shows how many reports may follow from one another", () => {
  expect(renderConfig()).toMatch(/reports: \{[^}]*\/\/ maxHops: 2,/)
  expect(renderConfig()).toMatch(/\/\/ strategies: \["append", "replace"\], \/\/ any of "append", "replace"\n/)
})
