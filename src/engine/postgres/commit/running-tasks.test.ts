import { describe, expect, test } from "vitest"
import type { TaskId } from "../../../task/id.ts"
import type { Operation } from "../../../task/operation.ts"
import { complete, create, useWritingStore } from "../../../../test/support/postgres/writing.ts"

const { open } = useWritingStore()

function note(taskId: TaskId): Operation {
  return { op: "task.note", run: { taskId, run: 1 }, facts: [{ type: "task.promoted", afterMs: 1 }] }
}

describe("a running task", () => {
  test("that another process has changed keeps every change", async () => {
    const [one, other] = [await open(), await open()]
    const operation = create()
    const { id } = operation.details
    await one.commit([operation])
    await other.commit([{ op: "task.prioritize", taskId: id, priority: 7 }, note(id)])
    const [task] = await one.commit([complete(id)])
    expect(task).toMatchObject({ status: "completed", priority: 7, lastSequence: 4 })
    expect(await one.store.task(id)).toEqual(task)
  })

  test("is read anew, also columns whose change has no event", async () => {
    const { commit, database } = await open()
    const operation = create()
    const { id } = operation.details
    await commit([operation])
    await database.query("UPDATE tasks SET title = 'another' WHERE id = $1", [id])
    const [task] = await commit([complete(id)])
    expect(task).toMatchObject({ status: "completed", title: "another" })
  })

  test("has the title as the store could keep it", async () => {
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
