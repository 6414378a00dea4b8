import { describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { endNow, isAlive, processesOf } from "../support/processes.ts"
import { createTestSpool, NEVER_STOPPED, readAll, toShell } from "../support/spool.ts"

describe("A5. A grandchild that keeps stdout open does not keep the task open", () => {
  test("one in the group of its parent is stopped with it", async () => {
    const { run, taskId } = createTestSpool()
    const exit = await run.runProcess(toShell("sleep 60 & echo done"), NEVER_STOPPED)
    expect(exit).toEqual({ exitCode: 0, signal: null, survivors: [] })
    expect(await readAll(run)).toBe("done\n")
    expect(processesOf(taskId)).toEqual([])
  })

  test("one that ignores SIGTERM is killed", async () => {
    const { run, taskId } = createTestSpool()
    const exit = await run.runProcess(toShell(`sh -c 'trap "" TERM; sleep 60; :' & sleep 0.1`), NEVER_STOPPED)
    expect(exit).toEqual({ exitCode: 0, signal: null, survivors: [] })
    expect(processesOf(taskId)).toEqual([])
  })

  test("one that made itself a session of its own is left, and named", async () => {
    const { run } = createTestSpool()
    const command = 'setsid sleep 61 & until [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done; echo done'
    const exit = await run.runProcess(toShell(command), NEVER_STOPPED)
    expect(exit).toMatchObject({ exitCode: 0, signal: null, survivors: [{ command: "sleep 61" }] })
    const [survivor] = exit.survivors
    expect(isAlive(survivor?.pid ?? 0)).toBe(true)
    endNow(survivor?.pid ?? 0)
    await eventually("it is gone", () => !isAlive(survivor?.pid ?? 0))
  })
})

describe("an ordinary command", () => {
  test("has both streams in the order of printing, its exit code, and leaves nothing when discarded", async () => {
    const { run, directory } = createTestSpool()
    const { readdirSync } = await import("node:fs")
    const exit = await run.runProcess(toShell("echo one; echo two >&2; echo three; exit 7"), NEVER_STOPPED)
    expect(exit).toEqual({ exitCode: 7, signal: null, survivors: [] })
    expect(await readAll(run)).toBe("one\ntwo\nthree\n")
    await run.discard()
    expect(readdirSync(directory)).toEqual([])
  })

  test("gets its own environment and nothing else", async () => {
    const { run, taskId } = createTestSpool()
    const env = { PATH: process.env["PATH"] ?? "", "odd.name": "kept", mw: "mine", LAST: "a=b\nc" }
    await run.runProcess({ ...toShell(""), argv: ["env", "-0"], env }, NEVER_STOPPED)
    const names = (await readAll(run)).split("\0").filter((line) => !/^(?:PWD=|SHLVL=|_=|PATH=|OLDPWD=|$)/.test(line))
    expect(names.toSorted()).toEqual(["LAST=a=b\nc", `MEANWHILE_TASK=${taskId}/1/1`, "mw=mine", "odd.name=kept"])
  })

  test("that is also the name of a builtin is the program of that name", async () => {
    const { run } = createTestSpool()
    const exit = await run.runProcess({ ...toShell(""), argv: ["echo", "$HOME", "a  b", "*"] }, NEVER_STOPPED)
    expect(exit.exitCode).toBe(0)
    expect(await readAll(run)).toBe("$HOME a  b *\n")
  })

  test("reads nothing from standard input", async () => {
    const { run } = createTestSpool()
    expect(await run.runProcess(toShell("cat; echo end"), NEVER_STOPPED)).toMatchObject({ exitCode: 0 })
    expect(await readAll(run)).toBe("end\n")
  })

  test.each([
    ["a directory that does not exist", { ...toShell("true"), cwd: "/no/such/folder" }, /working directory/],
    ["a directory that is relative", { ...toShell("true"), cwd: "." }, /working directory/],
    ["a program that does not exist", { ...toShell("true"), argv: ["no-such-program"] as const }, /not found/],
    ["a program that is no program", { ...toShell("true"), argv: ["/etc/passwd"] as const }, /not found/],
    ["a program without a name", { ...toShell("true"), argv: [""] as const }, /not found/],
    ["an argument with a NUL character", { ...toShell("true"), argv: ["sh", "a\0b"] as const }, /NUL/],
    ["more arguments than the machine takes", toShell(`: ${"x".repeat(4_000_000)}`), /too long for this machine/],
  ])("with %s is refused", async (_, request, message) => {
    const { run, directory } = createTestSpool()
    const { readdirSync } = await import("node:fs")
    await expect(run.runProcess(request, NEVER_STOPPED)).rejects.toMatchObject({ code: "invalid_input" })
    await expect(run.runProcess(request, NEVER_STOPPED)).rejects.toThrow(message)
    await run.discard()
    expect(readdirSync(directory)).toEqual([])
  })
})
