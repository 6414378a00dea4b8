import { openPgBoss, QUEUE } from "../reference/pg-boss.ts"

/** Works off a queue of bare pg-boss until it is killed. Prints when it is ready, and the moment each job began. */
const [url] = process.argv.slice(2)
if (!url) throw new Error("usage: pg-boss-worker URL")

const boss = await openPgBoss(url)
await boss.work(QUEUE, async () => {
  process.stdout.write(`${process.hrtime.bigint()}\n`)
})
process.stdout.write("ready\n")
