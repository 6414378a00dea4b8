import { describeEngine } from "../suite/describe-engine.ts"
import { createTestStore } from "../../../test/support/embedded/store.ts"

describeEngine("embedded", createTestStore)
