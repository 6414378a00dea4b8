import { describe, expect, test } from "vitest"
import { openAgents, refused } from "../support/open-agent-tasks.ts"

describe("saying something to an agent", () => {
  test("steers it while it runs", async () => {
    const { runner, next, said, session } = await openAgents()
    const { id } = await runner.start({ tool: "agent", input: { task: "look" } })
    await next()
    expect(await runner.say(id, "look left")).toMatchObject({ how: "steered", task: { id, run: 1 } })
    expect(said).toEqual([`${id} ${session} look left`])
  })

  test("resumes it when it has completed", async () => {
    const { runner, next, complete, said } = await openAgents()
    const id = await complete()
    expect(await runner.say(id, "look left")).toMatchObject({ how: "resumed", task: { run: 2 } })
    expect((await next()).input.task).toBe("look left")
    expect(said).toEqual([])
  })

  test("at the last allowed hop steers a running agent, and resumes no completed one", async () => {
    const { runner, next, complete, caller, said } = await openAgents()
    const completed = await complete()
    const running = await runner.start({ tool: "agent", input: { task: "look" } })
    await next()
    runner.execute({ tool: "caller", input: {}, hops: 2 })
    const { tasks } = (await caller.call(1)).context
    expect(await tasks.say(running.id, "look left")).toMatchObject({ how: "steered" })
    await expect(tasks.say(completed, "look left")).rejects.toMatchObject({ code: "limit_exceeded" })
    await expect(tasks.resume(completed, "look left")).rejects.toMatchObject({ code: "limit_exceeded" })
    expect(said).toHaveLength(1)
  })

  test("resumes it as many hops from a person as its caller, and never fewer than before", async () => {
    const { runner, next, ended, complete, caller } = await openAgents()
    const id = await complete()
    runner.execute({ tool: "caller", input: {}, hops: 1 })
    const { tasks } = (await caller.call(1)).context
    expect(await tasks.say(id, "look left")).toMatchObject({ task: { run: 2, metadata: { hops: 1 } } })
    ;(await next()).finish("seen")
    await ended(id)
    expect(await runner.resume(id, "look right")).toMatchObject({ run: 3, metadata: { hops: 1 } })
    ;(await next()).fail()
    await ended(id)
    expect(await tasks.retry(id)).toMatchObject({ run: 4, metadata: { hops: 1 } })
  })

  test("is refused when nobody would hear it", async () => {
    const { runner, next, ended, loseSession } = await openAgents()
    const tool = await runner.start({ tool: "echo", input: {} })
    await expect(runner.say(tool.id, "hello")).rejects.toMatchObject(refused("only agents can be told something"))
    const { id } = await runner.start({ tool: "agent", input: { task: "look" } })
    const run = await next()
    await expect(runner.say(id, "")).rejects.toMatchObject({ code: "invalid_input" })
    loseSession()
    await expect(runner.say(id, "hello")).rejects.toMatchObject(refused("has no conversation yet"))
    run.fail()
    await ended(id)
    await expect(runner.say(id, "hello")).rejects.toMatchObject(refused("is failed"))
  })
})
