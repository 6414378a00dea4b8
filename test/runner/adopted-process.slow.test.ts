import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { endNow, processesWith } from "../support/processes.ts"
import { echo } from "../support/tools.ts"
import { createWorkplace, toTestMarker } from "../support/workplace.ts"

const call = { tool: "echo", input: {} }
const background = { stopGraceSeconds: 1 }
/** Starts a process in a session of its own, which outlives its parent's group and has to be killed. */
const STUBBORN = `setsid sh -c 'trap "" TERM; touch ready; while :; do sleep 0.05; done' &`

async function startForeign(directory: string, command: string, options: { detached?: boolean } = {}): Promise<number> {
  const env = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
  const pid = spawn("sh", ["-c", command], { cwd: directory, stdio: "ignore", env, ...options }).pid ?? 0
  onTestFinished(() => endNow(pid))
  await eventually("it is ready", () => existsSync(join(directory, "ready")))
  return pid
}

test.each([
  { where: "leads a group of its own", detached: true },
  { where: "is in the group of somebody else", detached: false },
])("stopping an adopted process that $where ends all it started before it is called stopped", async ({ detached }) => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo], background })
  const pid = await startForeign(directory, `${STUBBORN} wait`, { detached })
  const { id } = await meanwhile.tasks.adopt(call, { pid })
  await meanwhile.tasks.cancel(id)
  const { task } = await meanwhile.tasks.result(id, { waitMs: 30_000 })
  expect(processesWith(toTestMarker(directory))).toEqual([])
  expect(task).toMatchObject({ status: "cancelled", survivors: [] })
})

test("processes that an adopted process left running when it ended by itself are left alone", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo], background })
  const pid = await startForeign(directory, `${STUBBORN} until [ -e go ]; do sleep 0.01; done`)
  const { id } = await meanwhile.tasks.adopt(call, { pid })
  endNow(pid)
  expect((await meanwhile.tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({ status: "completed" })
  expect(processesWith(toTestMarker(directory)).length).toBeGreaterThan(0)
})
