export { findNearNames } from "../base/near-name.ts"
