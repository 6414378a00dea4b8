import { expect, test } from "vitest"
import { sampleDetails } from "../../suite/samples.ts"
import { parseEarlierRun } from "./task-row.ts"

test("an earlier run that was stored before tasks had folders names none", () => {
  const { folder: _folder, ...details } = sampleDetails({ title: "kept" })
  expect(parseEarlierRun(JSON.stringify(details))).toMatchObject({ title: "kept", folder: null })
})
