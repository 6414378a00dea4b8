import { z } from "zod"
import type { JsonValue } from "../../src/base/json.ts"
import type { Question } from "../../src/plugin/person-port.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createSessionId, type TaskId, type WaitId } from "../../src/task/id.ts"
import type { WaitRecord } from "../../src/task/wait.ts"
import { eventually } from "./eventually.ts"
import { beginRunnerLife, type RunnerLife } from "./runner-life.ts"
import { createGatedTool, echo } from "./tools.ts"
import { createFolder } from "./workplace.ts"

export const NAME: Question = { kind: "text", text: "What is it called?" }
export const COLOUR: Question = {
  kind: "choice",
  text: "Which colour?",
  options: ["red", "dark blue"],
  fallback: "red",
}

/** A tool that asks a person the questions of its input, and hands the answers back. */
export const asker = defineTool({
  name: "asker",
  description: "Asks.",
  input: z.object({ questions: z.array(z.any()) }),
  background: { mode: "always" },
  onCrash: "retry",
  async run({ questions }, { person }) {
    const answers: string[] = []
    for (const question of questions as Question[]) {
      const answer = await person.ask(question)
      answers.push(answer.isAnswered ? answer.value : answer.reason)
    }
    return answers
  },
})

export const openAsking = (folder = createFolder(), options = {}, number = 1): Promise<RunnerLife> =>
  beginRunnerLife(folder, { tools: [asker, echo, createGatedTool({ obeys: true }).tool], ...options }, number)

export const ask = ({ runner }: RunnerLife, questions: readonly Question[], more = {}) =>
  runner.start({ tool: "asker", input: { questions }, session: createSessionId(), ...more })

export const answer = ({ runner }: RunnerLife, wait: WaitRecord | undefined, said: JsonValue) =>
  runner.answer(wait?.id as WaitId, said, "ada")

/** Resolves with the next question that is not `before`. */
export const nextQuestion = ({ store }: RunnerLife, before: WaitRecord | undefined) =>
  eventually("the next question is asked", async () =>
    (await store.waits({ isOpen: true })).find(({ id }) => id !== before?.id),
  )

export const answersOf = async ({ runner }: RunnerLife, id: TaskId) => {
  const { task } = await runner.result(id, { waitMs: 1e9 })
  return task.status === "completed" ? task.patch.payload : task.status
}
