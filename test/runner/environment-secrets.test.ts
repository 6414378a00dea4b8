import { expect, test } from "vitest"
import { createWorkplace } from "../support/workplace.ts"

test("a secret that a call hands to its command is not shown when the command prints it", async () => {
  const { meanwhile } = await createWorkplace()
  const secret = "correct-horse-battery"
  const call = { tool: "run_command", input: { command: 'echo "it is $DEPLOY_TOKEN"', env: { DEPLOY_TOKEN: secret } } }
  const shown: string[] = []
  const answer = await meanwhile.tasks.execute(call, { onOutput: (text) => shown.push(text) }).answer
  expect(answer.outcome).toBe("completed")
  expect(shown.join("")).toBe(`it is ${"*".repeat(secret.length)}\n`)
  expect(JSON.stringify(answer)).not.toContain(secret)
})
