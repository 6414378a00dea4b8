import { expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { beginLife } from "../support/mcp/mortal-runtime.ts"
import { startSecondGenerationServer } from "../support/mcp/second-generation-server.ts"

test("a crash in the middle of a stop does not leave the server's task running", async () => {
  const server = await startSecondGenerationServer()
  const folder = createFolder()
  const first = await begin(folder, server.url, 1)
  const { id } = await first.runtime.tasks.start({ plugin: "mcp", tool: "mcp__fixture__slow_job", input: {} })
  await eventually("it is followed", async () => {
    const { task } = await first.runtime.tasks.get(id)
    return task.progress?.line === "counting"
  })
  first.life.end()
  const looking = await begin(folder, server.url, 2, { takesWork: false })
  expect(await looking.runtime.tasks.cancel(id)).toMatchObject({ status: "stopping" })
  expect(server.tasks.get("task-1")?.status).toBe("working")
  await looking.runtime.close()
  looking.life.end()

  const third = await begin(folder, server.url, 3)
  const { task } = await third.runtime.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: [] })
  expect(server.tasks.get("task-1")?.status).toBe("cancelled")
})

const begin = (folder: string, url: string, number: number, options: { readonly takesWork?: boolean } = {}) =>
  beginLife({ ...options, folder, url, number, model: createScriptedModel([]) })
