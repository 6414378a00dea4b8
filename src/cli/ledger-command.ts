import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { Command, Option } from "commander"
import { openLedger } from "../app.ts"
import { lookAtDataFolder } from "../program/data-folder.ts"
import { DATA_DIRECTORY_NAME } from "./start/data-directory.ts"
import { findEngine, tellAside } from "./start/find-engine.ts"
import { formatLedger, type Grouping, GROUPINGS } from "./format/format-ledger.ts"
import type { GlobalOptions } from "./start/open-runtime.ts"
import { showSharedOptions, STORE_OPTIONS } from "./start/shared-options.ts"
import { withWaitExit } from "./start/wait-exit.ts"

interface LedgerOptions extends GlobalOptions {
  readonly by: Grouping
  readonly json?: true
  readonly jsonl?: true
}

/** `meanwhile ledger`: the usage of all conversations of the data folder. */
export function createCommand(): Command {
  const ledger = new Command("ledger")
    .description("what the conversations have used: model calls, tokens, money")
    .addOption(new Option("--by <what>", "one line for each of these").choices(GROUPINGS).default("model"))
    .addOption(new Option("--json", "the same as JSON").conflicts("jsonl"))
    .option("--jsonl", "every model call as one line of JSON")
    .action(async (_, command: Command) => {
      const { by, json, jsonl, dataDir = DATA_DIRECTORY_NAME, ...wish } = command.optsWithGlobals<LedgerOptions>()
      const found = await findEngine(wish)
      const dataDirectory = resolve(dataDir)
      const isHere = found.engine === undefined && existsSync(dataDirectory)
      const look = { dataDirectory, environment: process.env, notify: tellAside }
      const onStoreOpened = isHere ? (await lookAtDataFolder(look)).onStoreOpened : undefined
      await using opened = await withWaitExit(tellAside, (tell) =>
        openLedger(dataDirectory, { ...found, storeWait: { tell } }, onStoreOpened),
      )
      if (jsonl) {
        for await (const line of opened.exportLedger()) await write(line)
        return
      }
      const rows = await opened.ledgerTotals(by)
      await write(json ? `${JSON.stringify({ by, rows }, null, 2)}\n` : formatLedger(by, rows))
    })
  return showSharedOptions(ledger, [...STORE_OPTIONS, "--trust"])
}

/** Waits for a reader that is slower than the store. A reader that is gone ends the program, as at any write. */
async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve))
}
