import { placeTasks } from "../../src/plugin/task-family.ts"
import { expect, test } from "vitest"
import { toListText } from "../../src/builtin/background/vocabulary/opencode/task-list.ts"
import { toTaskFacts } from "../../src/builtin/background/vocabulary/meanwhile/task-facts.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

test("lists that a model sees say which tasks no worker can run", async () => {
  const plugins = [definePlugin({ kind: "tool", name: "test", tools: [echo] })]
  await using desk = await openTestRuntime({ dataDirectory: createFolder(), plugins, takesWork: false })
  await desk.tasks.start({ tool: "echo", input: {} })
  const { items } = await desk.tasks.list({})
  expect(toListText(placeTasks(items))).toContain("running, in the queue: no worker is there | ")
  expect(items.map(toTaskFacts)).toMatchObject([{ status: "queued", cannot_run: "no worker is there" }])
})
