import type { Message } from "../../../src/plugin/message.ts"
import type { SessionDirectory, SessionState } from "../../../src/plugin/sessions-port.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../../src/task/id.ts"

const MESSAGES: readonly Message[] = [
  {
    role: "user",
    parts: [
      { type: "text", text: "look at this 😀", metadata: { anthropic: { cache: true } } },
      { type: "file", mediaType: "image/png", name: "a.png", source: { data: "AAAA" } },
    ],
  },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "hm", metadata: { openai: { itemId: "rs_1" } } },
      { type: "text", text: "I look." },
      { type: "call", id: "1", tool: "view", input: { deep: [1, null, { x: "y" }] } },
    ],
  },
  {
    role: "tool",
    parts: [
      {
        type: "result",
        callId: "1",
        tool: "view",
        isError: true,
        content: [
          { type: "text", text: "no" },
          { type: "file", mediaType: "image/png", source: { url: "https://example.com/a.png" } },
        ],
      },
    ],
  },
]

export const toState = (id: string, more: Partial<SessionState> = {}): SessionState => ({
  id: id as SessionId,
  description: null,
  turns: 1,
  createdAt: 1_000,
  updatedAt: 2_000,
  model: null,
  messages: MESSAGES,
  data: { grants: ["read"] },
  ...more,
})

export function createDirectory(known: readonly SessionState[] = []) {
  const sessions = new Map<string, SessionState>(known.map((state) => [state.id, state]))
  const directory: SessionDirectory = {
    workspace: DEFAULT_WORKSPACE,
    list: async () => ({
      items: [...sessions.values()].map((state) => ({ ...state, workspace: DEFAULT_WORKSPACE, metadata: {} })),
    }),
    load: async (id) => sessions.get(id),
    async restore(state) {
      const id = sessions.has(state.id) ? (`${state.id}-2` as SessionId) : state.id
      sessions.set(id, { ...state, id })
      return id
    },
    delete: async (id) => sessions.delete(id),
    async describe(id, description) {
      const state = sessions.get(id)
      if (state) sessions.set(id, { ...state, description })
    },
    update: (id) => Promise.reject(new Error(`There is no session ${id}.`)),
    fork: (id) => Promise.reject(new Error(`There is no session ${id}.`)),
  }
  return { directory, sessions }
}
