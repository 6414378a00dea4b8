import { expect, test } from "vitest"
import type { TaskId } from "../task/id.ts"
import { placeTasks } from "./task-family.ts"

/** `child<parent` in the order in which they were made. */
const family = (...words: readonly string[]) =>
  words.map((word, createdAt) => {
    const [id = "", parent = null] = word.split("<")
    return { id: id as TaskId, parentTask: parent as TaskId | null, createdAt }
  })

const outline = (...words: Parameters<typeof placeTasks>) =>
  placeTasks(...words).map(({ task, depth }) => `${"  ".repeat(depth)}${task.id}`)

test("each task stands behind the one that started it, at any depth, siblings the newest first", () => {
  const tasks = family("a", "b", "a1<a", "a2<a", "a1x<a1", "b1<b")
  expect(outline(tasks)).toEqual(["b", "  b1", "a", "  a2", "  a1", "    a1x"])
})

test("a task below others that are not shown stands below the nearest that is, and without one at the top", () => {
  const tasks = family("agent<talk", "command<turn", "left<gone")
  expect(outline(tasks, family("talk", "turn<inner", "inner<agent"))).toEqual(["left", "agent", "  command"])
})
