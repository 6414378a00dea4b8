import { describeEngine } from "../suite/describe-engine.ts"
import { createTestPostgres } from "../../../test/support/postgres/engine.ts"

describeEngine("postgres", createTestPostgres)
