import { expect, test } from "vitest"
import type { JsonValue } from "../../src/base/json.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { answersIn, openSubagents, requestsOf, spawn, WORKER } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

const finish = (input: JsonValue) => ({ calls: [{ tool: "finish", input }] })

const GIVEN = {
  digest: ["Two tests fail.", "Both for the same reason."],
  facts: { failing: 2, where: ["a.test.ts", "b.test.ts"] },
  artifacts: [{ name: "report.md", mediaType: "text/markdown", text: "# Report" }],
  nextSteps: ["Mend the clock."],
  payload: { exit: 1 },
}

for (const [where, isKept] of PLACES) {
  test(`what an agent gives to finish is the patch of its run, and its artifacts are kept by hash under the task (${where})`, async () => {
    const opened = await openSubagents({ isKept, main: [], below: [finish(GIVEN), "That is all."] })
    const task = await endOf(opened, await startAgent(opened))
    expect(task).toMatchObject({
      status: "completed",
      patch: {
        digest: GIVEN.digest,
        facts: GIVEN.facts,
        nextSteps: GIVEN.nextSteps,
        artifacts: [{ name: "report.md", mediaType: "text/markdown", bytes: 8 }],
        payload: { answer: "That is all.", payload: { exit: 1 } },
      },
    })
    const [artifact] = task.status === "completed" ? task.patch.artifacts : []
    expect(artifact?.hash).toMatch(/^sha256:[0-9a-f]{64}$/)
    const { store } = opened.runtime.engine
    const kept = await store.artifact(DEFAULT_WORKSPACE, artifact?.hash ?? ("" as never))
    expect(Buffer.from(kept?.bytes ?? []).toString()).toBe("# Report")
    expect(kept?.taskId).toBe(task.id)
  })

  test(`an agent that gives nothing to finish hands back its last text (${where})`, async () => {
    const opened = await openSubagents({ isKept, main: [], below: ["Nothing is wrong."] })
    expect(await endOf(opened, await startAgent(opened))).toMatchObject({
      patch: { digest: ["Nothing is wrong."], facts: {}, artifacts: [], nextSteps: [] },
    })
  })

  test(`of several calls of finish the last that was not refused counts (${where})`, async () => {
    const below = [finish({ digest: ["First."] }), finish({ digest: ["Second."] }), finish({ digest: [7] }), "Done."]
    const opened = await openSubagents({ isKept, main: [], below })
    expect(await endOf(opened, await startAgent(opened))).toMatchObject({ patch: { digest: ["Second."] } })
  })
}

test("a notice tells what an agent said, its facts and next steps, and leaves its payload and artifacts out", async () => {
  const payload = { rows: ["never", "told"] }
  const opened = await openSubagents({ main: ["I see."], below: [finish({ ...GIVEN, payload }), "That is all."] })
  await endOf(opened, await startAgent(opened))
  await opened.session.send("And?")
  const told = JSON.stringify(requestsOf(opened.provider, "main")[0]?.messages)
  for (const part of [...GIVEN.digest, "a.test.ts", "Mend the clock.", "report.md"]) expect(told).toContain(part)
  for (const part of ["never", "rows", "# Report"]) expect(told).not.toContain(part)
})

test("an agent that ends in the foreground hands back its artifacts, too", async () => {
  const { runtime, session } = await openSubagents({ main: [spawn("Work."), "Good."], below: [finish(GIVEN), "Done."] })
  await session.send("Go.")
  const [answer] = answersIn(session) as readonly { artifacts?: readonly { hash: never; name: string }[] }[]
  expect(answer).toMatchObject({ answer: "Done.", digest: GIVEN.digest, artifacts: [{ name: "report.md" }] })
  const kept = await runtime.engine.store.artifact(DEFAULT_WORKSPACE, answer?.artifacts?.[0]?.hash as never)
  expect(Buffer.from(kept?.bytes ?? []).toString()).toBe("# Report")
  expect((await runtime.tasks.list({ kinds: ["agent"] })).items).toEqual([])
})

test("only agents below an agent are offered finish, and none with a profile without tools", async () => {
  const profiles = [WORKER, { ...WORKER, name: "mute", tools: [] }, { ...WORKER, name: "reader", tools: ["read"] }]
  const { provider, session } = await openSubagents({
    main: [spawn("A."), spawn("B.", { profile: "mute" }), spawn("C.", { profile: "reader" }), "Done."],
    below: ["A.", "B.", "C."],
    profiles,
  })
  await session.send("Go.")
  const offered = (model: string) => requestsOf(provider, model).map(({ tools }) => tools.map(({ name }) => name))
  expect(offered("main")[0]).not.toContain("finish")
  const [all, none, few] = offered("below")
  expect(all).toContain("finish")
  expect(none).toEqual([])
  expect(few).toEqual(["finish", "report_progress", "read"])
  expect(requestsOf(provider, "below")[1]?.system).not.toContain("call finish")
})
