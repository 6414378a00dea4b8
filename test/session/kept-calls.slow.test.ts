import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive, processesWith } from "../support/processes.ts"
import { openSubagents, spawn } from "../support/session/open-subagents.ts"
import { createFolder, toTestMarker } from "../support/workplace.ts"

const UNTIL_TOLD = "until test -e go; do sleep 0.02; done; echo the last words"
const COMMAND = { calls: [{ tool: "run_command", input: { command: UNTIL_TOLD } }] }
const KEEP = { work: "keep" } as const

/** Runtimes on one data folder, whose commands run in the folder. */
function createLives() {
  const directory = createFolder()
  const environment = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
  return {
    directory,
    findCommand: () => eventually("the command runs", () => processesWith(toTestMarker(directory))[0]),
    open: (scripts: Pick<Parameters<typeof openSubagents>[0], "main" | "below">) =>
      openSubagents({
        ...scripts,
        dataDirectory: join(directory, "data"),
        permissions: allowAll,
        plugins: [createShellPlugin({ workingDirectory: directory, environment })],
        background: { thresholdSeconds: 600 },
      }),
  }
}

test.each(["foreground", "background"] as const)(
  "close that keeps work keeps the command that an agent in the %s waits for, and the agent hears its result",
  async (place) => {
    const { directory, findCommand, open } = createLives()
    const first = await open({ main: [spawn("Work."), "I go on."], below: [COMMAND] })
    void first.session.send("Go.").catch(() => {})
    const pid = await findCommand()
    if (place === "background") expect(await first.session.promote()).toHaveLength(1)
    const { kept, stopped } = await first.runtime.close(KEEP)
    expect(stopped).toEqual([])
    const tools = kept.filter(({ kind }) => kind !== "turn").map(({ tool, status }) => `${tool} ${status}`)
    expect(tools.toSorted()).toEqual(["run_command running", "spawn_subagent queued"])
    expect(isAlive(pid)).toBe(true)

    const second = await open({ main: ["Done.", "Reported."], below: ["It runs.", "It said its last words."] })
    const { models } = second.provider
    await eventually("the agent goes on", () => (models["below"]?.callCount ?? 0) > 0)
    writeFileSync(join(directory, "go"), "")
    for (const { id } of kept.filter(({ kind }) => kind !== "turn"))
      expect((await second.runtime.tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({
        status: "completed",
        run: 1,
      })
    const heard = JSON.stringify(models["below"]?.requests)
    expect(heard).toContain("the last words")
    expect(heard).not.toContain("shut down")
  },
)
