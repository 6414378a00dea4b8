export type { Clock } from "./base/clock.ts"
export { createManualClock, type ManualClock } from "./base/manual-clock.ts"
export type { Script, ScriptedAnswer, ScriptedCall, ScriptedError, ScriptStep } from "./builtin/scripted/script.ts"
export {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from "./builtin/scripted/scripted-model.ts"
export { createScriptedProvider, type ScriptedProvider } from "./builtin/scripted/scripted-provider.ts"
