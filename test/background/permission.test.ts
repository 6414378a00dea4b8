import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { echo } from "../support/tools.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { createAnsweringPerson } from "../support/background/answering-person.ts"
import { call, openBackground } from "../support/background/open-background.ts"

const write = { ...echo, name: "write", effects: ["write"] as const }
const start = (value: string) => call("start_task", { tool: "write", input: { value } })

test("000-73: a call in the background is asked about exactly as in the foreground, once", async () => {
  const { person, questions } = createAnsweringPerson("yes")
  const agent = await openBackground([call("write", { value: "a" }), start("b"), "Both."], {
    vocabulary: "meanwhile",
    tools: [write],
    person,
    permissions: { rules: [] },
  })
  await agent.session.send("write")
  expect(questions.map(({ text }) => text)).toEqual(["Allow write? It writes.", "Allow write? It writes."])
  expect(await agent.ended(1)).toMatchObject({ status: "completed" })
})

test("a call that is refused in the foreground is refused in the background, and nothing is started", async () => {
  const { person } = createAnsweringPerson("no")
  const agent = await openBackground([start("a"), "Not allowed."], {
    vocabulary: "meanwhile",
    tools: [write],
    person,
    permissions: { rules: [] },
  })
  await agent.session.send("write")
  expect(resultText(resultsOf(agent.session.history())[0])).toContain("the person said no")
  expect((await agent.runtime.tasks.list({ kinds: ["tool"] })).items).toEqual([])
})

test("a call waits in the inbox if no person is there to allow it, and the model is told so", async () => {
  const agent = await openBackground([start("a"), "It waits."], {
    vocabulary: "meanwhile",
    tools: [write],
    permissions: { rules: [] },
  })
  await agent.session.send("write")
  expect(agent.answers()[0]).toMatchObject({ status: "waiting", note: expect.stringContaining("a person's approval") })
  const [wait] = await agent.runtime.engine.store.waits({ isOpen: true })
  await agent.runtime.tasks.answer(wait?.id ?? "", true, "test")
  expect(await agent.ended(1)).toMatchObject({ status: "completed" })
})

test("a rule by the name of a start or a cancel holds, and reads are never asked about", async () => {
  const { person, questions } = createAnsweringPerson("yes")
  const agent = await openBackground(
    [
      call("list_tasks"),
      call("wait_for"),
      call("start_task", { tool: "echo", input: { value: 1 } }),
      call("cancel_task", { task_id: "00000000-0000-4000-8000-000000000000" }),
      "Done.",
    ],
    {
      vocabulary: "meanwhile",
      tools: [echo],
      person,
      permissions: {
        rules: [
          { tool: "start_task", decision: "ask" },
          { tool: "cancel_task", decision: "deny", reason: "never cancel" },
        ],
      },
    },
  )
  await agent.session.send("go")
  expect(questions.map(({ text }) => text)).toEqual([expect.stringContaining("Allow start_task?")])
  expect(resultText(resultsOf(agent.session.history()).at(-1))).toContain("never cancel")
})

test("000-53: every read is approved by itself, and what starts or stops is not", () => {
  const approved = (vocabulary: "meanwhile" | "jaato") => createBackgroundPlugin({ vocabulary }).autoApprovedTools
  expect(approved("jaato")).toEqual([
    "getBackgroundTaskStatus",
    "getBackgroundTaskResult",
    "listBackgroundTasks",
    "listBackgroundCapableTools",
  ])
  expect(approved("meanwhile")).toEqual([
    "get_task",
    "list_tasks",
    "wait_for",
    "acknowledge",
    "read_artifact",
    "seal_group",
  ])
})
