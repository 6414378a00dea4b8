import { beforeEach, describe, expect, it } from "vitest"
import type { ToolContext } from "../../plugin/context.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionInfo } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { toDescription } from "./description.ts"
import { createEngineSessionPlugin } from "./engine-session-plugin.ts"
import { ADA, CAT, createDirectory } from "../../../test/support/builtin/session-directory.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"

let directory: SessionDirectory
let plugin: SessionPlugin
beforeEach(() => {
  directory = createDirectory([ADA, CAT])
  plugin = createEngineSessionPlugin({ directory })
})

describe("the description", () => {
  const enrich = async (session: SessionInfo | null) => (await plugin.enrichPrompt?.("hi", { session }))?.prompt

  it("is asked for after three turns, then every third turn, until there is one", async () => {
    const asked: number[] = []
    for (let turns = 0; turns <= 10; turns++) {
      const prompt = await enrich({ ...CAT, turns })
      expect(prompt).toMatch(/^hi/)
      if (prompt?.includes("session_describe")) asked.push(turns)
    }
    expect(asked).toEqual([3, 6, 9])
    expect(await enrich({ ...ADA, turns: 3 })).toBe("hi")
    expect(await enrich(null)).toBe("hi")
  })

  it("is needed from the configured turn on", async () => {
    expect(plugin.needsDescription({ ...CAT, turns: 2 })).toBe(false)
    expect(plugin.needsDescription({ ...CAT, turns: 3 })).toBe(true)
    expect(plugin.needsDescription({ ...ADA, turns: 30 })).toBe(false)
    await plugin.initialize?.({ requestDescriptionAfterTurns: 1 })
    expect(plugin.needsDescription({ ...CAT, turns: 1 })).toBe(true)
  })

  const describeWith = (input: unknown, session: SessionId | null) => {
    const [tool] = plugin.tools ?? []
    if (!tool) throw new Error("there is no tool")
    return tool.run(parsed(tool.input, input), { session, sessions: { directory } } as unknown as ToolContext)
  }

  it("is set by the model without anyone's permission, for its own conversation", async () => {
    expect(plugin.autoApprovedTools).toEqual(["session_describe"])
    expect(await describeWith({ description: " Fixing\nthe build " }, CAT.id)).toEqual({
      description: "Fixing the build",
    })
    expect((await directory.load(CAT.id))?.description).toBe("Fixing the build")
  })

  it("is refused when it is empty or there is no conversation", async () => {
    await expect(describeWith({ description: "\u0007 " }, CAT.id)).rejects.toMatchObject({ code: "invalid_input" })
    await expect(describeWith({ description: "x" }, null)).rejects.toMatchObject({ code: "wrong_state" })
  })

  it("has at most 120 characters and no half of one", () => {
    expect(toDescription("x".repeat(120))).toHaveLength(120)
    expect(toDescription(`${"x".repeat(118)}😀😀😀`)).toBe(`${"x".repeat(118)}…`)
  })
})
