import { migrateStore } from "../../../src/engine/postgres/schema/migrate-store.ts"

/** A process that migrates the store at the URL it is given, for tests that kill it on the way. */
const [url = ""] = process.argv.slice(2)
await migrateStore({ url })
