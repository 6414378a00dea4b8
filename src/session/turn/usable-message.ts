import { callsOf, type Message } from "../../plugin/message.ts"

type Answer = Extract<Message, { role: "assistant" }>

const NO_ANSWER = { type: "text", text: "(no answer)" } as const

/**
 * The answer as every provider takes it back: not empty, no two calls with one id. Calls of a model that was offered no
 * tools are left out: nobody answers them.
 */
export function toUsableMessage(message: Answer, mayCall: boolean): Answer {
  const parts = message.parts.filter((part) =>
    part.type === "text" ? part.text !== "" : part.type !== "call" || mayCall,
  )
  const isTelling = parts.some((part) => part.type !== "reasoning")
  if (!isTelling) return { role: "assistant", parts: [...parts, NO_ANSWER] }
  const ids = callsOf(message).map(({ id }) => id)
  const areUnique = new Set(ids).size === ids.length && !ids.includes("")
  if (areUnique) return parts.length === message.parts.length ? message : { role: "assistant", parts }
  const seen = new Set<string>()
  return {
    role: "assistant",
    parts: parts.map((part) => {
      if (part.type !== "call") return part
      const id = part.id !== "" && !seen.has(part.id) ? part.id : `call_${crypto.randomUUID().replaceAll("-", "")}`
      seen.add(id)
      return { ...part, id }
    }),
  }
}
