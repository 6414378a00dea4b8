import { describe, expect, test } from "vitest"
import type { TaskId } from "../../../../task/id.ts"
import type { Operation } from "../../../../task/operation.ts"
import { toVersion } from "./known-tasks.ts"
import { complete, create, useWritingStore } from "../../../../../test/support/postgres/writing.ts"

const { open } = useWritingStore()

function note(taskId: TaskId): Operation {
  return { op: "task.note", run: { taskId, run: 1 }, facts: [{ type: "task.promoted", afterMs: 1 }] }
}

describe("a task that runs here", () => {
  test("is locked again and again without being read", async () => {
    const { commit, sent, store } = await open()
    const operation = create()
    const { id } = operation.details
    await commit([operation])
    sent()
    await commit([note(id)])
    await commit([note(id)])
    await commit([complete(id)])
    expect(sent().filter((words) => words.startsWith("WITH"))).toEqual(["WITH version", "WITH version", "WITH version"])
    expect(await store.task(id)).toMatchObject({ status: "completed", lastSequence: 5, input: operation.details.input })
  })

  test("is read when another process has changed it, and nothing of that is lost", async () => {
    const [one, other] = [await open(), await open()]
    const operation = create()
    const { id } = operation.details
    await one.commit([operation])
    await other.commit([{ op: "task.prioritize", taskId: id, priority: 7 }, note(id)])
    one.sent()
    const [task] = await one.commit([complete(id)])
    expect(one.sent().filter((words) => words.startsWith("WITH"))).toEqual(["WITH version", "WITH"])
    expect(task).toMatchObject({ status: "completed", priority: 7, lastSequence: 4 })
    expect(await one.store.task(id)).toEqual(task)
  })

  test("is read when any column of its row was changed, also one that has no event", async () => {
    const { commit, database } = await open()
    const operation = create()
    const { id } = operation.details
    await commit([operation])
    await database.query("UPDATE tasks SET title = 'another' WHERE id = $1", [id])
    const [task] = await commit([complete(id)])
    expect(task).toMatchObject({ status: "completed", title: "another" })
  })

  test("is read when the store could not keep its title as it is", async () => {
    const { commit, store } = await open()
    const operation = create({ title: "half \ud800 and \0" })
    const { id } = operation.details
    await commit([operation])
    const [task] = await commit([complete(id)])
    expect(task).toMatchObject({ status: "completed", title: "half \ufffd and \ufffd" })
    expect(await store.task(id)).toEqual(task)
  })

  test("that was ended elsewhere is not ended again", async () => {
    const [one, other] = [await open(), await open()]
    const operation = create()
    const { id } = operation.details
    await one.commit([operation])
    await other.commit([complete(id)])
    await expect(one.commit([complete(id)])).rejects.toMatchObject({ code: "wrong_state" })
  })

  test("that was removed is not there", async () => {
    const [one, other] = [await open(), await open()]
    const operation = create()
    const { id } = operation.details
    await one.commit([operation])
    await other.database.query("DELETE FROM tasks WHERE id = $1", [id])
    await expect(one.commit([complete(id)])).rejects.toMatchObject({ code: "not_found" })
  })

  test("is as it was before when the transaction that changed it was refused", async () => {
    const { commit } = await open()
    const operation = create()
    const { id } = operation.details
    await commit([operation])
    const impossible: Operation = { op: "task.apply", run: { taskId: id, run: 9 }, event: complete(id).event }
    await expect(commit([note(id), impossible])).rejects.toMatchObject({ code: "wrong_state" })
    expect(await commit([complete(id)])).toMatchObject([{ status: "completed", lastSequence: 3 }])
  })
})

test("what one server has numbered is not taken for what another has", () => {
  const here = "42 2026-01-01 10:00:00.000001+00"
  expect(toVersion("42", here)).toBe(here)
  expect(toVersion("42", "99 2026-01-01 10:00:00.000002+00")).not.toBe(here)
})
