import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../../plugin/tool.ts"
import type { CapableTool } from "./capable-tool.ts"
import { type StartedCall, toPlacement } from "./started-call.ts"

interface Start {
  readonly tool: string
  readonly input: { readonly folder: string }
}

const STARTS: StartedCall<Start> = {
  find: ({ tool, input }, capable) =>
    capable.flatMap((each) => (each.tool.name === tool ? [{ tool: each.tool, input }] : []))[0],
  change: (start, input) => ({ ...start, input }),
}

function createCapable(name: string, isHere?: boolean): CapableTool {
  const tool = defineTool<{ folder: string }>({
    name,
    description: "Works in a folder.",
    input: z.object({ folder: z.string() }),
    run: async () => null,
    ...(isHere !== undefined && { isHere: () => isHere, folderOf: ({ folder }: { folder: string }) => folder }),
  })
  return { plugin: "test", tool, movesAfterMs: "start", thresholdMs: 0, isPrivate: false }
}

const start = (tool: string): Start => ({ tool, input: { folder: "/srv/shop" } })

test("a start names the folder of the tool it starts, unless another tool could judge that folder differently", () => {
  const { folderOf, isHere } = toPlacement(STARTS, () => [createCapable("build", true), createCapable("fetch")])
  expect(folderOf(start("build"))).toBe("/srv/shop")
  expect(isHere(start("build"))).toBe(true)
  expect(folderOf(start("fetch"))).toBeUndefined()
})

test("starts are looked at one by one if their tools could judge a folder differently", () => {
  const { folderOf, isHere } = toPlacement(STARTS, () => [createCapable("build", true), createCapable("edit", false)])
  expect([start("build"), start("edit")].map(folderOf)).toEqual([undefined, undefined])
  expect([start("build"), start("edit")].map(isHere)).toEqual([true, false])
})
