import { migrateStore } from "../../../src/engine/postgres/schema/migrate-store.ts"

/** A process that migrates the store at the given URL, for tests that kill it in the middle. */
const [url = ""] = process.argv.slice(2)
await migrateStore({ url })
