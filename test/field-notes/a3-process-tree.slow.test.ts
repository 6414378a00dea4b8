import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { isAlive, processesOf, processesWith } from "../support/processes.ts"
import { createWorkplace, toTestMarker } from "../support/workplace.ts"

const GRACE_SECONDS = 0.3

describe('A3. Cancel ends the whole process tree: child that ignores SIGTERM; grandchild; a shell loop that keeps spawning; a child that called setsid. What could not be ended is listed as a survivor; "stopped" is never said while descendants live', () => {
  /** Starts the command, waits until `atLeast` of its processes live, and cancels it. */
  async function startAndCancel(command: string, atLeast: number) {
    const { meanwhile, directory } = await createWorkplace({ background: { stopGraceSeconds: GRACE_SECONDS } })
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    await eventually("its processes live", () => processesOf(id).length >= atLeast)
    await tasks.waitForOutput(id, { pattern: /ready/, timeoutMs: 20_000 })
    await tasks.cancel(id)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    return { task, left: processesOf(id), directory, leftInFolder: processesWith(toTestMarker(directory)) }
  }

  test("a child that ends when it is asked to", async () => {
    const { task, left } = await startAndCancel("echo ready; exec sleep 300", 2)
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(left).toEqual([])
  })

  test("a child that ignores SIGTERM", async () => {
    const { task, left } = await startAndCancel("trap '' TERM; echo ready; while :; do sleep 300; done", 3)
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(left).toEqual([])
  })

  test("a grandchild, also one whose parent has gone", async () => {
    const { task, left } = await startAndCancel(
      "sh -c 'sleep 300 & sh -c \"sleep 300 &\" & wait' & echo ready; wait",
      5,
    )
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(left).toEqual([])
  })

  test("a shell loop that keeps spawning", async () => {
    const command = "trap '' TERM; echo ready; while :; do (trap '' TERM; sleep 300) & sleep 0.01; done"
    const { task, left, leftInFolder } = await startAndCancel(command, 5)
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(left).toEqual([])
    expect(leftInFolder).toEqual([])
  })

  test("a child that called setsid", async () => {
    const command = "setsid sh -c 'trap \"\" TERM; echo $$ >own; echo ready; while :; do sleep 300; done' & wait"
    const { task, left, directory } = await startAndCancel(command, 4)
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(left).toEqual([])
    expect(isAlive(Number(readFileSync(join(directory, "own"), "utf8")))).toBe(false)
  })

  test("a child that called setsid and dropped its environment", async () => {
    const command = "setsid env -i /bin/sh -c 'echo $$ >own; echo ready; exec sleep 300' & wait"
    const { task, directory } = await startAndCancel(command, 2)
    const pid = Number(readFileSync(join(directory, "own"), "utf8"))
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(isAlive(pid)).toBe(false)
  })

  test("a call in the foreground as well", async () => {
    const { meanwhile } = await createWorkplace({ background: { stopGraceSeconds: GRACE_SECONDS } })
    const command = "trap '' TERM; sleep 300 & setsid sleep 300 & while :; do sleep 300; done"
    const execution = meanwhile.tasks.execute({ tool: "run_command", input: { command } })
    await eventually("its processes live", () => processesOf(execution.taskId).length >= 5)
    execution.cancel()
    expect(await execution.answer).toMatchObject({ outcome: "cancelled", survivors: [] })
    expect(processesOf(execution.taskId)).toEqual([])
  })

  test('"stopped" is never said while descendants live', async () => {
    const { meanwhile } = await createWorkplace({ background: { stopGraceSeconds: 1 } })
    const { tasks } = meanwhile
    const command = "trap '' TERM; echo ready; while :; do sleep 300; done"
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    await tasks.waitForOutput(id, { pattern: /ready/, timeoutMs: 20_000 })
    expect(await tasks.cancel(id)).toMatchObject({ status: "stopping" })
    const ended = await eventually("it is stopped", async () => {
      const { task } = await tasks.get(id)
      if (task.status === "stopping") return false
      expect(processesOf(id)).toEqual([])
      return task
    })
    expect(ended).toMatchObject({ status: "cancelled", survivors: [] })
    expect(processesOf(id)).toEqual([])
  })

  /** The kernel answers so for a process of another user; those need rights to make that a test may not have. */
  test("what could not be ended is listed as a survivor", async () => {
    const { meanwhile, directory } = await createWorkplace({ background: { stopGraceSeconds: GRACE_SECONDS } })
    const { tasks } = meanwhile
    const command = "setsid sh -c 'echo $$ >own; echo ready; exec sleep 301' & wait"
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    await tasks.waitForOutput(id, { pattern: /ready/, timeoutMs: 20_000 })
    const pid = Number(readFileSync(join(directory, "own"), "utf8"))
    forbidSignals(pid)
    await tasks.cancel(id)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(isAlive(pid)).toBe(true)
    expect(task).toMatchObject({ status: "cancelled", survivors: [{ pid, command: "sleep 301" }] })
  })
})

function forbidSignals(pid: number): void {
  const kill = process.kill
  onTestFinished(() => {
    process.kill = kill
  })
  process.kill = (target, signal) => {
    if (target === pid) throw Object.assign(new Error("kill EPERM"), { code: "EPERM", errno: -1, syscall: "kill" })
    return kill.call(process, target, signal)
  }
}
