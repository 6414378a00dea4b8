import { expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Answer } from "../../src/plugin/task-service.ts"
import type { PendingCall } from "../../src/plugin/tool-hooks.ts"
import { eventually } from "../support/eventually.ts"
import { contentsOf } from "../support/contents.ts"
import { echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("hooks may refuse and change a call, and hear of its answer", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const heard: [PendingCall, Answer][] = []
  await meanwhile.plugins.register(
    definePlugin({
      kind: "tool",
      name: "watcher",
      tools: [],
      beforeToolCall: ({ input }) => {
        const { value } = input as { value: unknown }
        if (value === "forbidden") return { decision: "refuse", reason: "it is forbidden" }
        if (value === "crash") throw new Error("the hook broke")
        return value === "wrong"
          ? { decision: "change", input: { value: "right" } }
          : value === "invalid"
            ? { decision: "change", input: 7 }
            : { decision: "allow" }
      },
      afterToolCall: (call, answer) => {
        heard.push([call, answer])
        throw new Error("it changes nothing")
      },
    }),
  )
  const { tasks } = meanwhile
  const ask = (value: string) => ({ tool: "echo", input: { value } })
  expect(await tasks.execute(ask("wrong")).answer).toMatchObject({ patch: { payload: "right" } })
  await eventually("the hook has heard", () => heard.length > 0)
  expect(heard).toMatchObject([[{ input: { value: "right" } }, { outcome: "completed" }]])
  for (const [value, code] of [
    ["forbidden", "permission_denied"],
    ["crash", "permission_denied"],
    ["invalid", "invalid_input"],
  ] as const) {
    await expect(tasks.execute(ask(value)).answer).rejects.toMatchObject({ code })
    await expect(tasks.start(ask(value))).rejects.toMatchObject({ code })
  }
  const started = await tasks.start(ask("wrong"))
  expect((await tasks.result(started.id, { waitMs: 20_000 })).task).toMatchObject({ patch: { payload: "right" } })
  expect((await tasks.list({})).items).toHaveLength(1)
})

test("permission judges the input that a hook has changed, and not the one that was asked for", async () => {
  const judged: unknown[] = []
  const { meanwhile } = await createWorkplace({
    tools: [echo],
    permissions: {
      decide({ call, input }) {
        judged.push([call.input, input])
        const { value } = input as { value: unknown }
        return value === "dangerous" ? { allowed: false, reason: "it is dangerous" } : { allowed: true }
      },
    },
  })
  const changes: Readonly<Record<string, string>> = { harmless: "dangerous", dangerous: "harmless" }
  await meanwhile.plugins.register(
    definePlugin({
      kind: "tool",
      name: "changer",
      tools: [],
      beforeToolCall: ({ input }) => ({
        decision: "change",
        input: { value: changes[(input as { value: string }).value] },
      }),
    }),
  )
  const { tasks } = meanwhile
  const ask = (value: string) => ({ tool: "echo", input: { value } })
  await expect(tasks.execute(ask("harmless")).answer).rejects.toMatchObject({ code: "permission_denied" })
  await expect(tasks.start(ask("harmless"))).rejects.toMatchObject({ code: "permission_denied" })
  expect((await tasks.list({})).items).toEqual([])
  expect(await tasks.execute(ask("dangerous")).answer).toMatchObject({ patch: { payload: "harmless" } })
  const [dangerous, harmless] = [{ value: "dangerous" }, { value: "harmless" }]
  expect(judged).toEqual([
    [dangerous, dangerous],
    [dangerous, dangerous],
    [harmless, harmless],
  ])
})

test("permission is asked for every call, and a call is refused if it cannot be asked", async () => {
  const asked: unknown[] = []
  const { meanwhile, directory } = await createWorkplace({
    tools: [echo],
    permissions: {
      decide({ tool, input }) {
        asked.push([tool, input])
        const { value } = input as { value: unknown }
        if (value === "throws") throw new Error("no line")
        if (value === "rejects") return Promise.reject(new Error("no line"))
        return value === "no" ? Promise.resolve({ allowed: false, reason: "said no" }) : { allowed: true }
      },
    },
  })
  const before = await contentsOf(directory)
  for (const value of ["no", "throws", "rejects"]) {
    const call = { tool: "echo", input: { value } }
    await expect(meanwhile.tasks.execute(call).answer).rejects.toMatchObject({ code: "permission_denied" })
    await expect(meanwhile.tasks.start(call)).rejects.toMatchObject({ code: "permission_denied" })
    await expect(meanwhile.tasks.adopt(call, Promise.resolve())).rejects.toMatchObject({ code: "permission_denied" })
  }
  expect(await contentsOf(directory)).toEqual(before)
  expect(await meanwhile.tasks.execute({ tool: "echo", input: { value: "yes" } }).answer).toMatchObject({
    outcome: "completed",
  })
  expect(asked).toHaveLength(10)
})
