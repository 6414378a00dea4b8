import { expect, test } from "vitest"
import { createWorkplace } from "../support/workplace.ts"

test("a way to close that does not exist is refused, and closes nothing", async () => {
  const { meanwhile } = await createWorkplace()
  const close = meanwhile.close as (options: unknown) => Promise<void>
  for (const options of [{ work: "kepp" }, "keep", 5, null])
    await expect(close(options)).rejects.toMatchObject({ code: "invalid_input" })
  expect((await meanwhile.tasks.list({})).items).toEqual([])
  await close({ work: "stop" })
})
