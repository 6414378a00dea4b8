import { describe, expect, it } from "vitest"
import { z } from "zod"
import { isMeanwhileError } from "../base/error.ts"
import { checkPlugin, definePlugin } from "./define-plugin.ts"
import { defineTool } from "./tool.ts"

const greet = defineTool({
  name: "greet",
  description: "Says hello.",
  input: z.object({ name: z.string() }),
  run: async ({ name }) => `Hello ${name}`,
})

function problemOf(value: unknown): string {
  try {
    checkPlugin(value)
  } catch (error) {
    if (isMeanwhileError(error, "invalid_input")) return error.message
    throw error
  }
  return "none"
}

describe("definePlugin", () => {
  it("returns the very object it was given", () => {
    const plugin = { kind: "tool", name: "greeter", tools: [greet] } as const
    expect(definePlugin(plugin)).toBe(plugin)
  })

  it("takes a plugin of each of the four kinds", () => {
    const method = () => undefined
    const plugins = [
      { kind: "tool", name: "a", tools: [] },
      { kind: "gc", name: "b", shouldCollect: method, collect: method },
      {
        kind: "session",
        name: "c",
        save: method,
        load: method,
        list: method,
        delete: method,
        setDescription: method,
        needsDescription: method,
      },
      { kind: "model_provider", name: "d", connect: method },
    ]
    expect(plugins.map(problemOf)).toEqual(["none", "none", "none", "none"])
  })

  it.each([
    [{ kind: "tool", name: "Greeter", tools: [] }, "must begin with a lower-case letter"],
    [{ kind: "tool", name: "", tools: [] }, "This value is not a plugin"],
    [{ kind: "tools", name: "greeter" }, "kind is one of tool, gc, session, model_provider"],
    [undefined, "This value is not a plugin"],
    [() => undefined, "This value is not a plugin"],
    [{ kind: "tool", name: "greeter" }, "tools:"],
    [{ kind: "gc", name: "collector", collect: () => undefined }, "shouldCollect: must be a function"],
    [{ kind: "tool", name: "greeter", tools: [greet, greet] }, 'two tools named "greet"'],
    [{ kind: "tool", name: "greeter", tools: [{ ...greet, name: "say hello" }] }, "tools.0.name"],
    [{ kind: "tool", name: "greeter", tools: [{ ...greet, description: " " }] }, "must say what it does"],
    [
      { kind: "tool", name: "greeter", tools: [{ ...greet, input: {} }] },
      "must be a schema of zod 4, valibot, arktype",
    ],
    [{ kind: "tool", name: "greeter", tools: [{ ...greet, input: z.string() }] }, "its input must be an object"],
    [{ kind: "tool", name: "greeter", tools: [{ ...greet, input: z.object({ at: z.date() }) }] }, "JSON Schema"],
    [{ kind: "tool", name: "greeter", tools: [{ ...greet, background: { mode: "later" } }] }, "tools.0.background"],
    [
      { kind: "tool", name: "greeter", tools: [{ ...greet, timeoutMs: 5, background: { mode: "after", ms: 9 } }] },
      "timeoutMs (5) must exceed its threshold (9)",
    ],
    [{ kind: "tool", name: "greeter", tools: [greet], autoApprovedTools: ["gret"] }, '"gret", which is no tool'],
    [
      { kind: "tool", name: "greeter", tools: [], userCommands: [{ name: "hi", description: "", run: () => "" }] },
      "userCommands.0.description",
    ],
  ])("refuses %o and says what is wrong", (value, message) => {
    expect(problemOf(value)).toContain(message)
  })

  it("refuses a tool whose field is misspelled, and says what was perhaps meant", () => {
    const wrong = { ...greet, effect: ["write"], timeout: 5, ownNote: "kept" }
    const message = problemOf({ kind: "tool", name: "greeter", tools: [wrong] })
    expect(message).toContain('tools.0: has no field "effect". Did you mean effects?')
    expect(message).toContain('tools.0: has no field "timeout". Did you mean timeoutMs?')
    expect(message).not.toContain("ownNote")
  })

  it("names every mistake, not only the first", () => {
    const message = problemOf({ kind: "tool", name: "greeter", tools: [{ name: "a b", description: "" }] })
    expect(message).toContain("tools.0.name")
    expect(message).toContain("tools.0.description")
    expect(message).toContain("tools.0.run")
  })
})
