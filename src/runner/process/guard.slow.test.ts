import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { eventually } from "../../../test/support/eventually.ts"
import { createFolder } from "../../../test/support/workplace.ts"
import { createGuard } from "./guard.ts"
import { encodeIdentity, thisProcessIdentity } from "./identity.ts"
import { isZombie, listDescendants, listProcesses, readCommand } from "./table.ts"

const OWNER = { pid: 4_000_000, startedAt: "0", bootId: "none" }

/** A Meanwhile process that has a guard, and does nothing else until it is killed. */
function startOwner(spool: string): ChildProcess {
  const guard = JSON.stringify(new URL("guard.ts", import.meta.url).href)
  const program = `import { createGuard } from ${guard}
    createGuard(${JSON.stringify(spool)}, ${JSON.stringify(OWNER)}).ensure()
    process.stdout.write("guarded")
    setInterval(() => {}, 1_000)`
  return spawn(process.execPath, ["--input-type=module-typescript", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  })
}

/** A command that has printed more than it may. */
function startCommand(spool: string): { readonly child: ChildProcess; claim(owner: typeof OWNER): void } {
  const folder = join(spool, "task", "1")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "output"), "more than two")
  const env = { ...process.env, MEANWHILE_TASK: "task/1/" }
  const child = spawn("/bin/sleep", ["600"], { env, detached: true, stdio: "ignore" })
  onTestFinished(() => void child.kill("SIGKILL"))
  return {
    child,
    claim: (owner) =>
      writeFileSync(join(folder, "process-1"), `claim ${child.pid} 2 ${owner.bootId} ${encodeIdentity(owner)}\n`),
  }
}

function guardsOf(spool: string): number[] {
  const living = listProcesses().filter((entry) => !isZombie(entry))
  return living.map(({ pid }) => pid).filter((pid) => isGuard(readCommand(pid), spool))
}

function isGuard(command: string, spool: string): boolean {
  return command.includes("meanwhile-guard") && command.includes(spool)
}

/** True between two looks: the guard runs `sleep` then. */
function isBetweenLooks(guard: number | undefined): boolean {
  return guard !== undefined && listDescendants(guard).some(({ pid }) => readCommand(pid).includes("sleep"))
}

test("a command that claims its place only after its program has died is guarded too", async () => {
  const spool = createFolder()
  const owner = startOwner(spool)
  const command = startCommand(spool)
  await once(owner.stdout ?? owner, "data")
  owner.kill("SIGKILL")
  await once(owner, "exit")
  await eventually("the guard has looked, and found nothing", () => isBetweenLooks(guardsOf(spool)[0]))
  command.claim(OWNER)
  const [, signal] = await once(command.child, "exit")
  expect(signal).toBe("SIGTERM")
  await eventually("the guard has ended", () => guardsOf(spool).length === 0)
})

test("a guard ends with a program that closes and leaves nothing", async () => {
  const spool = createFolder()
  const guard = createGuard(spool, thisProcessIdentity())
  guard.ensure()
  expect(guardsOf(spool)).toHaveLength(1)
  guard.close()
  await eventually("the guard has ended", () => guardsOf(spool).length === 0)
})
