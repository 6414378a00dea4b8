import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import type { BackgroundConfigInput } from "../../src/runner/limits/background-config.ts"
import type { Runner } from "../../src/runner/runner.ts"
import type { Engine } from "../../src/task/engine.ts"
import type { GroupState } from "../../src/task/group.ts"
import { createSessionId, type GroupId, type SessionId } from "../../src/task/id.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { eventually } from "./eventually.ts"
import { openRunner } from "./open-runner.ts"
import { openTestEngine, watchFirstLook } from "./test-engine.ts"
import { createGatedTool, echo, type GatedCall } from "./tools.ts"
import { createFolder } from "./workplace.ts"

/** A runner on a real store, whose tasks end when the test says so. */
export interface GroupDesk {
  readonly clock: ManualClock
  readonly engine: Engine
  readonly runner: Runner
  readonly session: SessionId
  /** Starts a task of that name, which runs until the test finishes, fails or stops it. */
  start(name: string, call?: Partial<ToolCall>): Promise<TaskRecord>
  /** The call of run `run` (default 1) of the task of that name, once it has begun. */
  call(name: string, run?: number): Promise<GatedCall>
  finish(name: string, value?: string): Promise<void>
  fail(name: string): Promise<void>
  until(group: GroupId, state: GroupState): Promise<void>
  /** Lets time pass until the promise is settled. */
  passTime<Value>(promise: Promise<Value>): Promise<Value>
}

export interface DeskOptions {
  readonly background?: BackgroundConfigInput
  readonly tools?: readonly Tool[]
}

export async function createGroupDesk({ background, tools = [] }: DeskOptions = {}): Promise<GroupDesk> {
  const directory = createFolder()
  const clock = createManualClock()
  const engine = await openTestEngine(directory, { clock })
  const gated = createGatedTool({ obeys: true })
  const { dispatcher, hasLooked } = watchFirstLook(engine.dispatcher)
  const runner = await openRunner(directory, {
    engine: { ...engine, dispatcher },
    clock,
    tools: [gated.tool, echo, ...tools],
    ...(background && { background }),
  })
  await hasLooked
  const session = createSessionId()
  const call = (name: string, run = 1): Promise<GatedCall> =>
    eventually(`${name} runs`, () =>
      gated.calls.find(({ input, context }) => input.name === name && context.run === run),
    )
  return {
    clock,
    engine,
    runner,
    session,
    start: (name, more = {}) => runner.start({ tool: "gated", input: { name }, title: name, session, ...more }),
    call,
    finish: async (name, value = name) => (await call(name)).finish(value),
    fail: async (name) => (await call(name)).fail(new Error(`${name} broke`)),
    async until(group, state) {
      await eventually(`the group is ${state}`, async () => (await engine.store.group(group))?.state === state)
    },
    async passTime(promise) {
      let isSettled = false
      const settle = (): void => {
        isSettled = true
      }
      promise.then(settle, settle)
      await eventually("it is over", () => {
        clock.advance(100)
        return isSettled
      })
      return promise
    },
  }
}
