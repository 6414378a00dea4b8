import { relative } from "node:path"
import { z } from "zod"

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      /** The path of its file. */
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
})

/** The names of the tests that failed, from what vitest reports as JSON; of a file that was not loaded the reason. */
export function readFailedTests(root: string, report: string): readonly string[] {
  return reportSchema.parse(JSON.parse(report)).testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((test) => test.status === "failed")
    if (failed.length === 0 && status === "failed") return [`${file}: ${message}`]
    return failed.map(({ fullName }) => `${file} > ${fullName}`)
  })
}
