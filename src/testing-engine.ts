export { describeEngine } from "./engine/suite/describe-engine.ts"
export type { EngineFactory, EngineSubject } from "./engine/suite/subject.ts"
