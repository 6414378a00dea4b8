import { describe, expect, test } from "vitest"
import { type Message, userMessage } from "../../plugin/message.ts"
import { estimateText, estimateTokens } from "./token-estimate.ts"

describe("the token estimate", () => {
  test("counts four plain characters as a token, and one ideograph as a token", () => {
    expect(estimateText("")).toBe(0)
    expect(estimateText("a".repeat(400))).toBe(100)
    expect(estimateText("я".repeat(400))).toBe(200)
    expect(estimateText("語".repeat(400))).toBe(400)
  })

  test("counts what calls and results say, not only text", () => {
    const call: Message = {
      role: "assistant",
      parts: [{ type: "call", id: "1", tool: "readFile", input: { path: "x".repeat(300) } }],
    }
    const result: Message = {
      role: "tool",
      parts: [
        {
          type: "result",
          callId: "1",
          tool: "readFile",
          isError: false,
          content: [{ type: "text", text: "y".repeat(4_000) }],
        },
      ],
    }
    expect(estimateTokens(call)).toBeGreaterThan(75)
    expect(estimateTokens(result)).toBeGreaterThan(1_000)
    expect(estimateTokens(result)).toBeLessThan(1_050)
  })

  test("a picture takes the same however many bytes it has", () => {
    const withImage = (data: string) => userMessage("", [{ type: "file", mediaType: "image/png", source: { data } }])
    expect(estimateTokens(withImage("A".repeat(4_000_000)))).toBe(estimateTokens(withImage("AAAA")))
  })

  test("a text file takes its text, and another document less", () => {
    const data = "A".repeat(40_000)
    const withFile = (mediaType: string) =>
      estimateTokens(userMessage("", [{ type: "file", mediaType, source: { data } }]))
    expect(withFile("text/plain")).toBe(4 + 7_500)
    expect(withFile("application/json")).toBe(4 + 7_500)
    expect(withFile("application/pdf")).toBe(4 + 750)
    expect(withFile("something/else")).toBe(4 + 750)
  })

  test("looks at a message once", () => {
    let reads = 0
    const watched: Message = {
      role: "user",
      get parts() {
        reads++
        return [{ type: "text", text: "hello" }] as const
      },
    }
    expect(estimateTokens(watched)).toBe(4 + 2)
    const before = reads
    expect(estimateTokens(watched)).toBe(4 + 2)
    expect(reads).toBe(before)
  })
})
