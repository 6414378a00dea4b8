import type { Runtime } from "../../app.ts"

export type AgentEvent = Parameters<Parameters<Runtime["on"]>[0]>[0]
export type AgentId = AgentEvent["agent"]
export type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>
export type TurnAccounting = EventOf<"turn.completed">["accounting"]
export type ContextUsage = EventOf<"context.updated">["usage"]
