import { expect, onTestFinished, test } from "vitest"
import { createWorkplace } from "../support/workplace.ts"

test("another Meanwhile on the same data takes out shapes and the values of its own environment, and knows no others", async () => {
  const printed = {
    shape: "sk-test1234567890abcdefghij",
    assigned: "correct-horse-1234",
    own: "plain-own-value",
    handed: "plain-handed-value",
  }
  const { meanwhile, another } = await createWorkplace()
  const command = `echo ${printed.shape}; echo "password: ${printed.assigned}"; echo ${printed.own}; echo $DEPLOY_TOKEN`
  const input = { command, env: { DEPLOY_TOKEN: printed.handed } }
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input })
  expect((await meanwhile.tasks.result(id, { waitMs: 20_000 })).task.status).toBe("completed")
  process.env["MEANWHILE_TEST_SECOND_TOKEN"] = printed.own
  onTestFinished(() => {
    delete process.env["MEANWHILE_TEST_SECOND_TOKEN"]
  })
  const second = await another()
  const hide = (text: string) => "*".repeat(text.length)
  const { shape, assigned, own, handed } = printed
  const first = [hide(shape), `password: ${hide(assigned)}`, own, hide(handed), ""]
  expect((await meanwhile.tasks.output(id)).text.split("\n")).toEqual(first)
  // Where the store has the output, the process that knew the value has taken it out before.
  const isStored = meanwhile.engine.outputs !== undefined
  const other = [hide(shape), `password: ${hide(assigned)}`, hide(own), isStored ? hide(handed) : handed, ""]
  expect((await second.tasks.output(id)).text.split("\n")).toEqual(other)
})
