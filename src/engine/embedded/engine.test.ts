import { describeEngine } from "../suite/describe-engine.ts"
import { createTestStore } from "./test-store.ts"

describeEngine("embedded", createTestStore)
