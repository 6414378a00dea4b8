export { createManualClock, type ManualClock } from "./base/manual-clock.ts"
