import type { ScriptedCall, ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { LOCAL_PERSON } from "../../../src/desk/desk-options.ts"
import type { Message } from "../../../src/plugin/message.ts"
import { isTerminal } from "../../../src/task/lifecycle.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import type { FaultScript, FaultStage } from "./fault-stage.ts"

/** A short piece of a life with Meanwhile, whose commits are refused one by one. It comes out the same with every fault. */
export interface FaultScenario extends FaultScript {
  play(stage: FaultStage): Promise<void>
}

const calls = (...all: readonly ScriptedCall[]): ScriptStep => ({ calls: all })
const touch = (name: string): ScriptedCall => ({ tool: "touch", input: { name } })
const work = (name: string): ScriptedCall => ({ tool: "work", input: { name } })
const start = (name: string, more = {}): ScriptedCall => ({
  tool: "start_task",
  input: { tool: "work", input: { name }, title: name, ...more },
})

/** Together they commit everything that turns, agents, groups, promotions, questions, reports and stops commit. */
export const FAULT_SCENARIOS: Readonly<Record<string, FaultScenario>> = {
  "a turn with several calls in a new session": {
    main: [calls(touch("a"), touch("b"), { tool: "nothing" }), calls(touch("c")), "All three.", "Yes."],
    async play({ say }) {
      await say("Touch them.")
      await say("Really?")
    },
  },
  "an agent in the foreground": {
    main: [calls({ tool: "spawn_subagent", input: { task: "Touch d.", profile: "worker" } }), "It says seven."],
    below: [calls(touch("d")), "Seven."],
    play: ({ say }) => say("Ask somebody."),
  },
  "an agent in the background, its report and a follow-up": {
    main: [
      calls({ tool: "start_agent", input: { task: "Touch e.", profile: "worker", title: "agent" } }),
      "It works.",
      "It says seven.",
      async ({ messages }) => calls({ tool: "send_to_task", input: { task_id: findTask(messages), message: "More?" } }),
      "It is asked.",
      "It says eight.",
    ],
    below: [calls(touch("e")), "Seven.", calls(touch("f")), "Eight."],
    async play(stage) {
      const { say, session, find } = stage
      await say("Start one.")
      await find(() => findEnded(stage, "spawn_subagent", 1))
      await session.reported()
      await say("Ask it more.")
      await find(() => findEnded(stage, "spawn_subagent", 2))
      await session.reported()
    },
  },
  "a call that moves to the background": {
    main: [calls(work("slow"), touch("g")), "It goes on.", "It is done."],
    async play(stage) {
      const { say, session, tools, find } = stage
      await say("Work.")
      await tools.finish("slow")
      await find(() => findEnded(stage, "work", 1))
      await session.reported()
    },
  },
  "a group": {
    main: [calls(start("one", { group: "both" }), start("two", { group: "both" })), "Two work.", "Both are done."],
    async play({ say, session, tools, find, store }) {
      await say("Start two.")
      await tools.finish("one")
      await tools.finish("two")
      await find(async () => {
        const [group] = await store.groups({ session: session.id }, 1)
        return group?.state === "joined" ? group : undefined
      })
      await session.reported()
    },
  },
  "a question to a person": {
    main: [calls({ tool: "ask", input: { name: "colour" } }), "You are asked.", "It is red."],
    async play(stage) {
      const { say, session, runtime, find } = stage
      await say("Ask me.")
      const { inbox } = runtime.desk(LOCAL_PERSON)
      const { id } = await find(async () => (await inbox.list())[0])
      await inbox.answer(id, "red")
      await find(() => findEnded(stage, "ask", 1))
      await session.reported()
    },
  },
  "a cancel and a retry": {
    main: [calls(start("long")), "It works.", "It was stopped.", "It is done."],
    async play(stage) {
      const { say, session, runtime, tools, find } = stage
      await say("Start it.")
      const { id } = await find(async () => {
        const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool"] })
        return items.find(({ status, tool }) => tool === "work" && status === "running")
      })
      await find(async () => tools.effects.includes("long begins") || undefined)
      await runtime.tasks.cancel(id)
      await find(() => findEnded(stage, "work", 1))
      await session.reported()
      await runtime.tasks.retry(id)
      await tools.finish("long")
      await find(() => findEnded(stage, "work", 2))
      await session.reported()
    },
  },
}

/** The id of the task that the messages tell of. */
function findTask(messages: readonly Message[]): string {
  return /Task (?<id>[0-9a-f-]{8,36})/.exec(JSON.stringify(messages))?.groups?.["id"] ?? ""
}

/** The session's task of that tool, once its n-th run has ended. */
async function findEnded({ runtime, session }: FaultStage, tool: string, run: number): Promise<TaskRecord | undefined> {
  const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool", "agent"] })
  const found = items.find((task) => task.tool === tool && task.run === run && isTerminal(task.status))
  return found && (await runtime.tasks.get(found.id)).task
}
