import { userMessage } from "../../../src/plugin/message.ts"
import type { SessionDirectory, SessionState } from "../../../src/plugin/sessions-port.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../../src/task/id.ts"

const NOON = new Date(2026, 0, 2, 12, 0).getTime()

export function toState(id: string, more: Partial<SessionState> = {}): SessionState {
  return {
    id: id as SessionId,
    description: `about ${id}`,
    turns: 2,
    createdAt: NOON,
    updatedAt: NOON,
    model: "test/model",
    messages: [userMessage("hello")],
    data: {},
    ...more,
  }
}

export function createDirectory(states: readonly SessionState[]): SessionDirectory {
  const sessions = new Map<string, SessionState>(states.map((state) => [state.id, state]))
  const toListed = (state: SessionState) => ({ ...state, workspace: DEFAULT_WORKSPACE, metadata: state.metadata ?? {} })
  return {
    workspace: DEFAULT_WORKSPACE,
    list: async () => ({ items: [...sessions.values()].map(toListed).toSorted((a, b) => b.updatedAt - a.updatedAt) }),
    load: async (id) => sessions.get(id),
    async restore(state) {
      sessions.set(state.id, state)
      return state.id
    },
    delete: async (id) => sessions.delete(id),
    async describe(id, description) {
      sessions.set(id, { ...(sessions.get(id) ?? toState(id)), description })
    },
    async update(id, { title = null }) {
      const changed = { ...(sessions.get(id) ?? toState(id)), title }
      sessions.set(id, changed)
      return toListed(changed)
    },
    fork: (id) => Promise.reject(new Error(`There is no session ${id}.`)),
  }
}

export const ADA = toState("aaaa1111-0000", { updatedAt: NOON + 60_000 })
export const BOB = toState("aaaa2222-0000", { updatedAt: NOON + 30_000, turns: 1 })
export const CAT = toState("cccc3333-0000", { description: null, name: "run", title: "cats\nand dogs" })
