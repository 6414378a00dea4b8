import type { ScreenRuntime } from "../../program/open-program.ts"

export type AgentEvent = Parameters<Parameters<ScreenRuntime["on"]>[0]>[0]
export type AgentId = AgentEvent["agent"]
export type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>
export type TurnAccounting = EventOf<"turn.completed">["accounting"]
export type ContextUsage = EventOf<"context.updated">["usage"]
