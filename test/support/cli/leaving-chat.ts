import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import { eventually } from "../eventually.ts"
import { allEnded } from "../processes.ts"
import { startInTerminal, startPiped } from "../program.ts"
import { storeVariables } from "../test-engine.ts"
import { createFolder, toTestMarker } from "../workplace.ts"

/** A command that goes on until the test lets it end, and notes its pid. */
export const UNTIL_TOLD = "echo $$ > pid; until test -e go; do sleep 0.05; done; echo the last words"

export const CONTROL = { c: "\u0003", d: "\u0004" } as const

/** A folder with chats that can be left. Keepers carry the folder's marker, and so end with the test whatever happens. */
export async function openLeaving(environment: Readonly<Record<string, string>> = {}) {
  const directory = createFolder()
  const store = await storeVariables(join(directory, ".meanwhile"))
  const common = { ...store, MEANWHILE_PERMISSIONS_MODE: "allow_all", ...environment }
  return {
    directory,
    /** A chat at a terminal, which asks when it is left. */
    async startChat(words: readonly string[] = []) {
      const asked = { ...common, MEANWHILE_ON_EXIT: "ask" }
      const chat = startInTerminal({ directory, environment: asked, arguments: words })
      await chat.shows(/you talk with/)
      return chat
    },
    startRun: (...words: readonly string[]) =>
      startPiped({ directory, environment: common, arguments: ["run", ...words] }),
    startPipe: (words: readonly string[] = []) => startPiped({ directory, environment: common, arguments: words }),
    /** The pid of the command, once it runs. */
    readPid: (name = "pid") =>
      eventually("the command runs", () => {
        const path = join(directory, name)
        return existsSync(path) && (Number.parseInt(readFileSync(path, "utf8"), 10) || undefined)
      }),
    /** Lets commands end, and resolves when every keeper has ended by itself. */
    async finish(): Promise<void> {
      writeFileSync(join(directory, "go"), "")
      await allEnded(toTestMarker(directory))
    },
    /** The next chat tells the ends of these tasks, and the one after it does not. */
    async tellsOnce(ids: readonly string[]): Promise<string> {
      const told: string[] = []
      for (const times of [1, 0]) {
        const next = startPiped({ directory, environment: common, arguments: ["--resume"] })
        next.endInput()
        expect(await next.exited).toBe(0)
        told.push(next.shown())
        for (const id of ids)
          expect(next.shown().match(new RegExp(`Meanwhile: \\[${id}\\] completed`, "g")) ?? []).toHaveLength(times)
      }
      return told[0] ?? ""
    },
  }
}

export type LeavingChat = Awaited<ReturnType<Awaited<ReturnType<typeof openLeaving>>["startChat"]>>

/** Starts a command in the background, and returns the task's id. */
export async function startCommand(chat: Pick<LeavingChat, "type" | "shows">, command = UNTIL_TOLD): Promise<string> {
  chat.type(`/start ${command}`)
  return (await chat.shows(/\[[0-9a-f]{8}\] is (?:running|queued)/)).slice(1, 9)
}

/** Keeps the work, and returns the keeper's pid. */
export async function keep(chat: LeavingChat): Promise<number> {
  await chat.shows(/Leave, and keep it going\?/)
  // The prompt is drawn last. Above it may be agents whose state is a question mark, too.
  await chat.shows(/\? $/)
  chat.type("")
  const [, pid = ""] = /\(pid (\d+)\)/.exec(await chat.shows(/with a keeper \(pid \d+\):/)) ?? []
  return Number(pid)
}
