import { expect, test } from "vitest"
import { createSessionId, createTaskId, type TaskId } from "../../task/id.ts"
import type { Task } from "../format/format.ts"
import { createToldEnds, type ToldEndsScope } from "./told-ends.ts"

const toTask = (title: string, more: object = { endedAt: 2_000, status: "completed" }): Task =>
  ({ id: createTaskId(), title, kind: "tool", startedAt: 1_000, patch: null, digest: [], ...more }) as unknown as Task

/** The tasks of a prompt, and what is told of them. */
function open(tasks: readonly Task[], firstStart: () => Promise<number | null> = async () => null) {
  const lines: string[] = []
  const acknowledged: TaskId[] = []
  const scope: ToldEndsScope = {
    desk: {
      tasks: { firstStart, isReported: async () => true },
      promptWork: { tasks: async () => tasks },
      ended: { shown: async (ends) => void acknowledged.push(...ends.map(({ id }) => id)) },
    },
    prompt: { session: createSessionId(), saidAt: 0, started: new Set<TaskId>() },
    screen: { print: (text) => void lines.push(text) },
    areReportsOn: true,
  }
  const told = () =>
    tasks.filter(({ title }) => lines.some((line) => line.endsWith(`: ${title}`))).map((task) => task.title)
  return { ends: createToldEnds(scope), lines, told, acknowledged }
}

test("the ends of the tasks that a report is about are told before it, and those of no others", async () => {
  const [one, two, live, other] = [toTask("one"), toTask("two"), toTask("live", { status: "running" }), toTask("other")]
  const { ends, lines, told } = open([one, live, other, two])
  await ends.tellBefore([one.id, two.id, live.id, createTaskId()])
  expect(told()).toEqual(["one", "two"])
  expect(lines).toHaveLength(2)
})

test("an end is told once, however it is heard of", async () => {
  const [one, two] = [toTask("one"), toTask("two")]
  const { ends, lines, told } = open([one, two])
  await ends.tell(one)
  await Promise.all([ends.tellBefore([one.id, two.id]), ends.tell(two)])
  await ends.tellBefore([one.id, two.id])
  expect(told()).toEqual(["one", "two"])
  expect(lines).toHaveLength(2)
})

test("an end that could not be told is told the next time", async () => {
  const one = toTask("one")
  const answers = [Promise.reject(new Error("the store is away")), Promise.resolve(null)]
  const { ends, lines } = open([one], () => answers.shift() ?? Promise.resolve(null))
  await expect(ends.tellBefore([one.id])).rejects.toThrow("away")
  await ends.tell(one)
  expect(lines).toHaveLength(1)
})

test("the ends that were told count as told, and no others", async () => {
  const [one, two] = [toTask("one"), toTask("two")]
  const { ends, acknowledged } = open([one, two])
  await ends.acknowledge()
  await ends.tell(one)
  await ends.acknowledge()
  expect(acknowledged).toEqual([one.id])
})
