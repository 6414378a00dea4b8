import { writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { formatLeft } from "../../src/cli/format/format.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { createMachines } from "../support/two-machines.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const SECRET = "open sesame, and be quick"

/** Waits until this many bytes can be read in the runtime. */
function printed({ tasks }: Runtime, id: TaskId, totalBytes: number) {
  return eventually(`${totalBytes} bytes are there`, async () => (await tasks.output(id)).totalBytes === totalBytes)
}

test("a run that goes on on another machine adds to what it printed before", async () => {
  const gated = createGatedTool({ onCrash: "retry" })
  const background = { leaseSeconds: 0.5 }
  const { open } = await createMachines()
  const looking = await open({ tools: [gated.tool], takesWork: false })
  const host = await open({ tools: [gated.tool], background, isOver: () => true })
  const { id } = await looking.runtime.tasks.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  call.context.output.write("first machine\n")
  await printed(looking.runtime, id, 14)
  await host.engine.close()
  call.context.output.write("nobody hears of this\n")
  const next = await open({ tools: [gated.tool], background })
  const again = await gated.call(2)
  again.context.output.write("another machine\n")
  await printed(looking.runtime, id, 30)
  const text = "first machine\nanother machine\n"
  for (const { runtime } of [looking, next]) expect((await runtime.tasks.output(id)).text).toBe(text)
  again.finish()
  await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  for (const { runtime } of [looking, next]) expect((await runtime.tasks.output(id)).text).toBe(text)
})

test("a command of a machine that is gone ends interrupted and says where it ran, and what it had printed stays", async () => {
  const background = { leaseSeconds: 0.5 }
  const { open } = await createMachines()
  const looking = await open({ takesWork: false })
  const host = await open({ background, isOver: () => true })
  const command = "echo begun; exec sleep 1000"
  const { id } = await host.runtime.tasks.start({ tool: "run_command", input: { command } })
  await printed(looking.runtime, id, 6)
  await host.engine.close()
  await open({ background })
  const { task } = await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({
    status: "interrupted",
    failure: {
      message: `it was running on ${hostname()} when its worker was lost, and run_command may not be repeated; its processes may still run there, until a worker with the data folder ${host.folder} stops them`,
    },
  })
  expect(formatLeft(task)).toContain(`may still run on ${hostname()}: a worker with the data folder ${host.folder}`)
  expect(await looking.runtime.tasks.output(id)).toMatchObject({ text: "begun\n", isComplete: true })
})

test("a command is stopped from another machine, with all it has started", async () => {
  const { open } = await createMachines()
  const looking = await open({ takesWork: false })
  const host = await open()
  const command = "sleep 1000 & echo begun; sleep 1000"
  const { id } = await host.runtime.tasks.start({ tool: "run_command", input: { command } })
  await printed(looking.runtime, id, 6)
  expect(processesOf(id)).not.toEqual([])
  await looking.runtime.tasks.cancel(id, { by: "person", reason: "enough" })
  const { task } = await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: [], stop: { by: "person", reason: "enough" } })
  expect(processesOf(id)).toEqual([])
  expect(await looking.runtime.tasks.output(id)).toMatchObject({ text: "begun\n", isComplete: true })
})

test("the program follows on one machine what a command prints on another", async () => {
  const { open, url } = await createMachines()
  const host = await open()
  const command = "echo one; until test -e go; do sleep 0.05; done; echo two"
  const { id } = await host.runtime.tasks.start({ tool: "run_command", input: { command } })
  const program = startPiped({
    directory: createFolder(),
    arguments: ["tasks", "output", id, "--follow"],
    environment: { MEANWHILE_ENGINE: url },
  })
  await program.shows(/one/)
  writeFileSync(join(host.folder, "go"), "")
  await program.shows(/two/)
  expect(await program.exited).toBe(0)
})

test.each([
  ["all that a command prints after another process of its machine has adopted it is stored", {}, "one\ntwo "],
  ["but nothing of it when it was given a secret, which that process does not know", { A_TOKEN: SECRET }, "one\n"],
])("%s", async (_, env, stored) => {
  const background = { leaseSeconds: 0.5 }
  const { open } = await createMachines()
  const looking = await open({ takesWork: false })
  const first = await open({ background, isOver: () => true })
  const command = 'echo one; until test -e go; do sleep 0.05; done; printf "two $A_TOKEN"'
  const { id } = await first.runtime.tasks.start({ tool: "run_command", input: { command, env } })
  await printed(looking.runtime, id, 4)
  await first.engine.close()
  await open({ background, folder: first.folder })
  await eventually("it is adopted", async () => ((await looking.engine.store.task(id))?.fence ?? 0) > 1)
  writeFileSync(join(first.folder, "go"), "")
  const { task } = await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  expect(task.status).toBe("completed")
  expect((await looking.runtime.tasks.output(id)).text).toBe(stored)
})

test("every line of a command that outlives its worker is stored, once and in order", async () => {
  const { open, url } = await createMachines()
  const looking = await open({ takesWork: false })
  const directory = createFolder()
  const settings = {
    directory,
    arguments: ["worker", "--verbose"],
    environment: { MEANWHILE_ENGINE: url, MEANWHILE_BACKGROUND_LEASE_SECONDS: "1" },
  }
  const first = startPiped(settings)
  const command = "for i in $(seq 1 3000); do echo line $i; test $i -gt 1000 || sleep 0.002; done"
  const { id } = await looking.runtime.tasks.start({ tool: "run_command", input: { command } })
  await eventually("it prints", async () => (await looking.runtime.tasks.output(id)).totalBytes > 100)
  first.kill("SIGKILL")
  await first.exited
  startPiped(settings)
  const { task } = await looking.runtime.tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "completed", fence: 2 })
  const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}\n`).join("")
  expect((await looking.runtime.tasks.output(id, { limitBytes: 1_000_000 })).text).toBe(lines)
})
