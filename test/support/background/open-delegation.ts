import type { JsonObject } from "../../../src/base/json.ts"
import type { Script, ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { createScriptedProvider } from "../../../src/builtin/scripted/scripted-provider.ts"
import { createSubagentPlugin } from "../../../src/builtin/subagent/subagent-plugin.ts"
import type { ModelRequest } from "../../../src/plugin/model.ts"
import { isTerminal } from "../../../src/task/lifecycle.ts"
import { createGate, type Gate } from "../session/gate.ts"
import { WORKER } from "../session/open-subagents.ts"
import { eventually } from "../eventually.ts"
import { type BackgroundOptions, call, type OpenBackground, openBackground } from "./open-background.ts"

export interface OpenDelegation extends OpenBackground {
  /** The requests to the model of the profile `worker`. */
  asked(): readonly ModelRequest[]
}

/** A whole session in the `opencode` vocabulary, with agents of the profile `worker` below it. */
export async function openDelegation(
  main: Iterable<ScriptStep>,
  below: Script,
  options: BackgroundOptions = {},
): Promise<OpenDelegation> {
  const provider = createScriptedProvider("script", { below }, options.clock ? { clock: options.clock } : {})
  const { plugins = [], ...rest } = options
  const agent = await openBackground(main, {
    vocabulary: "opencode",
    ...rest,
    plugins: [provider, createSubagentPlugin({ directories: [], profiles: [WORKER] }), ...plugins],
  })
  return { ...agent, asked: () => provider.models["below"]?.requests ?? [] }
}

/** The call that gives work to a `worker`. */
export const toLaunch = (prompt: string, more: JsonObject = {}) => ({
  tool: "background_task",
  input: { description: `Do: ${prompt}`, prompt, agent: "worker", ...more },
})

export const launch = (...prompts: readonly string[]): ScriptStep => ({ calls: prompts.map((each) => toLaunch(each)) })

/** A follow-up to the n-th task. */
export const resume =
  (agent: () => OpenBackground, number: number, prompt: string): ScriptStep =>
  async () =>
    call("background_task", { resume: (await agent().task(number)).id, prompt })

/** A call about the n-th task. */
export const about =
  (agent: () => OpenBackground, tool: string, number: number, more: JsonObject = {}): ScriptStep =>
  async () =>
    call(tool, { task_id: (await agent().task(number)).id, ...more })

/** An answer that the model gives once the gate is opened. */
export function behindGate(text: string): { readonly gate: Gate; readonly step: ScriptStep } {
  const gate = createGate()
  return { gate, step: () => ({ gate: gate.pass(), text }) }
}

/** One task has completed; then the main model says `then`, and the agent below answers with `below`. */
export async function openCompleted(
  then: readonly ScriptStep[],
  below: readonly ScriptStep[],
  options: BackgroundOptions = {},
): Promise<OpenDelegation> {
  const main = [launch("Count the files."), "It works.", ...then]
  const agent = await openDelegation(main, ["3 files.", ...below], options)
  await agent.session.send("count")
  await agent.ended(1)
  return agent
}

/** Resolves with the first task when its follow-up has ended. */
export const endedAgain = (agent: OpenBackground) =>
  eventually("the follow-up ends", async () => {
    const task = await agent.task(1)
    return task.run > 1 && isTerminal(task.status) && task
  })
