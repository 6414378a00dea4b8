import { describe, expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { ToolPlugin } from "../../src/plugin/tool-plugin.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { say } from "../support/session/test-tools.ts"

/** A hook that never answers, and the moment it is called. */
function createSilence() {
  const { promise: isCalled, resolve } = Promise.withResolvers<void>()
  const hook = (): Promise<never> => {
    resolve()
    return new Promise(() => undefined)
  }
  return { isCalled, hook }
}

type Hook = () => Promise<never>

const HOOKS: Record<string, (hook: Hook) => { readonly plugin?: Partial<ToolPlugin>; readonly tool?: Partial<Tool> }> =
  {
    enrichPrompt: (enrichPrompt) => ({ plugin: { enrichPrompt } }),
    beforeToolCall: (beforeToolCall) => ({ plugin: { beforeToolCall } }),
    model: (model) => ({ tool: { kind: "agent", model } }),
  }

describe.each(PLACES)("a hook that never answers, %s", (_, isKept) => {
  async function sendInto(name: string) {
    const { isCalled, hook } = createSilence()
    const { plugin, tool } = HOOKS[name]?.(hook) ?? {}
    const { runtime, session } = await openAgent([{ calls: [{ tool: "say", input: { text: "hi" } }] }, "done"], {
      isKept,
      tools: [{ ...say, ...tool }],
      plugins: [definePlugin({ kind: "tool", name: "silent", tools: [], ...plugin })],
      background: { stopGraceSeconds: 0 },
    })
    const stop = new AbortController()
    const sent = session.send("go", { signal: stop.signal })
    sent.catch(() => undefined)
    await isCalled
    return { runtime, sent, stop }
  }

  test.each(Object.keys(HOOKS))("does not hold up the stop of a message: %s", async (name) => {
    const { sent, stop } = await sendInto(name)
    stop.abort()
    expect(await sent).toMatchObject({ outcome: "stopped" })
  })

  test.each(Object.keys(HOOKS))("does not hold up the close of the runtime: %s", async (name) => {
    const { runtime, sent } = await sendInto(name)
    await runtime.close()
    const settled = await Promise.allSettled([sent])
    expect(settled).toHaveLength(1)
  })
})
