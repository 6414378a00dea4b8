import { describeEngine } from "../suite/describe-engine.ts"
import { createTestPostgres } from "./test-engine.ts"

describeEngine("postgres", createTestPostgres)
