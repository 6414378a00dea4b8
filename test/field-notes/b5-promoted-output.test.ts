import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

describe("B5. Output of a tool that was promoted contains what it printed before promotion", () => {
  test("of a tool inside Meanwhile", async () => {
    const clock = createManualClock()
    const gated = createGatedTool()
    const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
    const { tasks } = meanwhile
    const shown: string[] = []
    const execution = tasks.execute({ tool: "gated", input: {} }, { onOutput: (text) => shown.push(text) })
    const call = await gated.call(1)
    call.context.output.write("before ")
    call.context.output.write(new TextEncoder().encode("and "))
    clock.advance(10_000)
    call.context.output.write("while ")
    expect((await execution.answer).outcome).toBe("promoted")
    call.context.output.write("after\n")
    call.finish()
    await tasks.result(execution.taskId, { waitMs: 30_000 })
    expect(await tasks.output(execution.taskId)).toMatchObject({
      text: "before and while after\n",
      offset: 0,
      nextOffset: 23,
      isComplete: true,
    })
    expect("before and while after\n".startsWith(shown.join(""))).toBe(true)
    expect(shown.join("").startsWith("before and ")).toBe(true)
  })

  test("of a command, which was shown its beginning already", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const shown = Promise.withResolvers<string>()
    const command = "echo before; read line <fifo; echo after"
    const execution = tasks.execute(
      { tool: "run_command", input: { command: `mkfifo fifo; ${command}` } },
      { onOutput: (text) => shown.resolve(text) },
    )
    expect(await shown.promise).toBe("before\n")
    expect(await execution.promote()).toBe(true)
    expect((await tasks.output(execution.taskId)).text).toBe("before\n")
    await tasks.execute({ tool: "run_command", input: { command: "echo go >fifo" } }).answer
    const { task } = await tasks.result(execution.taskId, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: { output: "before\nafter\n" } } })
    expect((await tasks.output(execution.taskId)).text).toBe("before\nafter\n")
  })
})
