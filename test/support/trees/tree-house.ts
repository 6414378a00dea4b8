import { onTestFinished } from "vitest"
import { openTestRuntime, type TestRuntime } from "../test-engine.ts"
import { createFolder } from "../workplace.ts"
import { createTreeParts, type TreeOptions, type TreeParts } from "./tree-parts.ts"

export interface TreeHouse extends TreeParts {
  readonly folder: string
  readonly here: TestRuntime
  /** Another process for the store: it runs nothing. */
  readonly elsewhere: TestRuntime
}

/** A runtime whose agents grow trees, and a second one on the same store; both are closed after the test. */
export async function openTreeHouse(folder = createFolder(), options: TreeOptions = {}): Promise<TreeHouse> {
  const parts = createTreeParts(folder, options)
  const here = await openTestRuntime(parts.options)
  const elsewhere = await openTestRuntime({ ...parts.options, takesWork: false })
  onTestFinished(async () => {
    await elsewhere.close()
    await here.close()
  })
  return { ...parts, folder, here, elsewhere }
}
