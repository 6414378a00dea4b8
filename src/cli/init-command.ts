import { Command } from "commander"
import { initFolder } from "../program/init.ts"
import { plain } from "./format/format.ts"

export function createCommand(): Command {
  return new Command("init")
    .description("write a meanwhile.config.ts with every key and its default into this folder")
    .option("--force", "replace the one that is there")
    .action(async ({ force = false }: { force?: boolean }) => {
      const { path, isTrusted, advice } = await initFolder({ directory: process.cwd(), force })
      const trust = isTrusted
        ? "It is trusted as it is; after a change you are asked again."
        : "It is not trusted yet, because the folder holds more that you have not trusted: run `meanwhile trust`."
      process.stdout.write(`${plain(path)} was written. ${trust}\n`)
      if (advice !== undefined) process.stdout.write(`It cannot be loaded here: ${plain(advice)}.\n`)
    })
}
