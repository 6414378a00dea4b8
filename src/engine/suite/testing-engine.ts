export { describeEngine } from "./describe-engine.ts"
export type { EngineFactory, EngineSubject } from "./subject.ts"
