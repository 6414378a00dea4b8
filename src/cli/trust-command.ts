import { realpath } from "node:fs/promises"
import { resolve } from "node:path"
import { Command } from "commander"
import { formatLocalTime } from "../base/local-time.ts"
import { openKnownDataFolders } from "../program/data-folder.ts"
import { openTrustStore } from "../program/folder.ts"
import { countOf, plain } from "./format/format.ts"

/** `trust [FOLDER]`, `trust list`, `trust revoke [FOLDER]`. */
export function createCommand(): Command {
  return new Command("trust")
    .description(
      "trust what a folder brings along, as it is now: configuration, MCP servers, commands, profiles, references, instructions",
    )
    .argument("[folder]", "this one without it")
    .action(async (folder = ".") => print(await trust(String(folder))))
    .addCommand(new Command("list").description("the folders you trust").action(async () => print(await listFolders())))
    .addCommand(
      new Command("revoke")
        .description("trust a folder no longer")
        .argument("[folder]", "this one without it")
        .action(async (folder = ".") => print(await revokeFolder(String(folder)))),
    )
}

async function trust(folder: string): Promise<readonly string[]> {
  const { trustFolder } = await import("../program/trust-folder.ts")
  const workingDirectory = await toDirectory(folder)
  const { directory, files, problems } = await trustFolder({ workingDirectory, environment: process.env })
  if (files.length === 0) return [`There is nothing in ${directory} to trust.`, ...problems]
  return [`${directory} is trusted as it is now:`, ...files.map((file) => `  ${file}`), ...problems]
}

/** Takes a folder with files of its own, or a data folder. */
async function revokeFolder(folder: string): Promise<readonly string[]> {
  const directory = await toDirectory(folder)
  const revoked = [await openTrustStore().revoke(directory), await openKnownDataFolders().forget(directory)]
  return [`${directory} ${revoked.includes(true) ? "is trusted no longer" : "was not trusted"}.`]
}

async function listFolders(): Promise<readonly string[]> {
  const folders = await openTrustStore().list()
  const data = await openKnownDataFolders().list()
  if (folders.length + data.length === 0) return ["You trust no folder."]
  return [
    ...folders.map(
      ({ directory, files, trustedAt }) => `${directory}  ${countOf(files.length, "file")}, since ${toDay(trustedAt)}`,
    ),
    ...data.map(({ path, knownSince }) => `${path}  data folder, since ${toDay(knownSince)}`),
  ]
}

const toDay = (time: string): string => formatLocalTime(Date.parse(time)).slice(0, 10)

/** The real path, or the plain one of a folder that is gone, so that its trust can still be revoked. */
async function toDirectory(folder: string): Promise<string> {
  return realpath(folder).catch(() => resolve(folder))
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${plain(line)}\n`)
}
