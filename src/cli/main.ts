#!/usr/bin/env node
import { join } from "node:path"
import { Command } from "commander"
import { openProgram } from "../program.ts"
import { DATA_DIRECTORY_NAME, openDataDirectory } from "./data-directory.ts"
import { createInterrupts } from "./interrupts.ts"
import { createLastAnnouncement } from "./last-announcement.ts"
import { runProgram } from "./program.ts"
import { createScreen } from "./screen.ts"

const REFUSED = 2

const program = new Command("meanwhile")
  .description("Run commands; what takes long goes on in the background and tells you when it ends.")
  .version("0.1.0")
  .option(
    "--data-dir <folder>",
    `where tasks and their output are kept (default: ${DATA_DIRECTORY_NAME} in this folder)`,
  )
  .option("--trust", "load meanwhile.config.* of this folder from now on")
  .action(async (options: { dataDir?: string; trust?: true }) => {
    process.exitCode = await main(options)
  })

await program.parseAsync()

async function main(options: { dataDir?: string; trust?: true }): Promise<number> {
  const screen = createScreen(process.stdout)
  const interrupts = createInterrupts()
  process.on("SIGINT", interrupts.raise)
  process.on("SIGTERM", interrupts.raise)
  try {
    const dataDirectory = openDataDirectory(options.dataDir)
    const meanwhile = await openProgram({
      dataDirectory,
      workingDirectory: process.cwd(),
      environment: process.env,
      trust: options.trust ?? false,
      notify: (text) => screen.print(text),
    })
    const last = createLastAnnouncement(join(dataDirectory, "announced"), meanwhile)
    await runProgram({ meanwhile, input: process.stdin, screen, interrupts, last })
    return 0
  } catch (error) {
    process.stderr.write(`meanwhile: ${error instanceof Error ? error.message : String(error)}\n`)
    return REFUSED
  }
}
