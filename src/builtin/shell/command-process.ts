import { execFile } from "node:child_process"
import { hostname } from "node:os"
import { definedVariables } from "../../base/environment.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { type Effect, EFFECTS } from "../../plugin/effect.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import { commandEffects } from "./command-effects.ts"
import { findInstalled, findStandard, STANDARD_FOLDERS } from "./installed-program.ts"
import { leadsToKernel } from "./kernel-folders.ts"
import { type PlainCommand, readPlainCommand } from "./plain-command.ts"
import { CAUTIOUS_GIT_VARIABLES, toCautiousGit, toFilterQuestion } from "./reading-git.ts"

export interface CommandSurroundings {
  readonly shell: string
  readonly environment: Readonly<Record<string, string>>
  /** Looked in after the folders of PATH. */
  readonly extraPaths: readonly string[]
}

export interface CommandCall {
  readonly command: string
  /** Absolute. */
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>> | undefined
  /**
   * True: the command is started as the program that it names, without a shell, or not at all. It is judged as that
   * program, so whoever runs it starts nothing else.
   */
  readonly withoutShell?: true | undefined
}

/** True if the table knows all that the call does, and a shell here would start an installed program for it. */
export function isInstalledProgram(surroundings: CommandSurroundings, call: CommandCall): boolean {
  const plain = readKnownProgram(call)
  return plain !== undefined && findInstalled(plain.program, toEnvironment(surroundings)["PATH"]) !== undefined
}

/** The effects of a call. What a shell starts may be anything: it looks for programs where the command will run. */
export function callEffects(call: CommandCall): readonly Effect[] {
  const effects = commandEffects(call.command)
  if (call.withoutShell && readKnownProgram(call)) return effects
  return EFFECTS.filter((effect) => effect === "unknown" || effects.includes(effect))
}

/**
 * The process of a call. One without a shell is started as the very program and words that were judged. It is refused if
 * that cannot be done here and now, and a shell never takes its place: perhaps nobody was asked.
 */
export async function toProcess(
  surroundings: CommandSurroundings,
  call: CommandCall,
  run: Pick<ToolContext, "act" | "signal">,
): Promise<ProcessRequest> {
  const { command, cwd, env } = call
  if (!call.withoutShell)
    return { argv: [surroundings.shell, "-c", command], cwd, env: toEnvironment(surroundings, env) }
  const { program, rest } = readKnownProgram(call) ?? refuse(DOUBTFUL)
  const path = findStandard(program, toEnvironment(surroundings)["PATH"]) ?? refuse(toMissing(program))
  const own = toProgramEnvironment(surroundings, commandEffects(command))
  if (program !== "git") return { argv: [path, ...rest], cwd, env: own }
  const cautious = { ...own, ...CAUTIOUS_GIT_VARIABLES }
  const question = toFilterQuestion(rest)
  const filters = await run.act(() => listFilters(path, question, { cwd, env: cautious, signal: run.signal }))
  return { argv: [path, ...toCautiousGit(rest, filters)], cwd, env: cautious }
}

/** The program of a plain call without variables of its own, if its words alone tell all that it does. */
function readKnownProgram({ command, cwd, env = {} }: CommandCall): PlainCommand | undefined {
  const plain = Object.keys(env).length === 0 ? readPlainCommand(command) : undefined
  const isKnown = plain !== undefined && !commandEffects(command).includes("unknown")
  return isKnown && !leadsToKernel(plain, cwd) ? plain : undefined
}

const DOUBTFUL =
  "The command was admitted as a plain program whose words tell what it does, and is none here and now, so it was not run. Start it again to be asked about it."

const toMissing = (program: string): string =>
  `The command was admitted as the installed program ${program}, and ${hostname()} has it in none of ${STANDARD_FOLDERS.join(", ")}, so it was not run. Install it there, or start the command again to be asked about it.`

function refuse(reason: string): never {
  throw new MeanwhileError("wrong_state", reason)
}

/** The complete environment of a command in a shell: the plugin's, then the call's, then the extra folders. */
function toEnvironment(
  { environment, extraPaths }: CommandSurroundings,
  ofCall: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const merged = { ...environment, ...ofCall }
  if (extraPaths.length === 0) return merged
  const known = merged["PATH"] ? [merged["PATH"]] : []
  return { ...merged, PATH: [...known, ...extraPaths].join(":") }
}

/** Variables that change no more than where a person's own settings are, and how text is printed. */
const BARE = [
  "HOME",
  "USER",
  "LOGNAME",
  "TMPDIR",
  "XDG_CONFIG_HOME",
  "TZ",
  "TERM",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
] as const

/**
 * Only a package manager finds other programs by PATH. A program that reads gets no variable besides: it could print
 * them without anybody having been asked.
 */
function toProgramEnvironment(
  surroundings: CommandSurroundings,
  effects: readonly Effect[],
): Readonly<Record<string, string>> {
  if (effects.includes("install")) return toEnvironment(surroundings)
  const { environment } = surroundings
  const bare = Object.fromEntries(BARE.map((name) => [name, environment[name]]))
  return definedVariables({ ...(effects.length > 0 ? environment : bare), PATH: STANDARD_FOLDERS.join(":") })
}

/** Git reads a few small files. A repository may name one whose read never ends. */
const LONGEST_LOOK_MS = 5_000

interface FilterLook extends Pick<ProcessRequest, "cwd"> {
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * The names of the filters that git would run here. Refused if git cannot say, or if one cannot be switched off. Somebody who
 * adds a filter between this and the command's own look has already been allowed to write into the repository's settings.
 */
function listFilters(git: string, words: readonly string[], look: FilterLook): Promise<string> {
  const options = { ...look, maxBuffer: 1024 * 1024, timeout: LONGEST_LOOK_MS, killSignal: "SIGKILL" } as const
  return new Promise((resolve, reject) => {
    execFile(git, words, options, (error, stdout, stderr) => {
      if (look.signal.aborted) return reject(look.signal.reason)
      if (error?.killed) return reject(new MeanwhileError("wrong_state", ENDLESS))
      // Git exits with 1 where there are none.
      if (error && error.code !== 1) return reject(new MeanwhileError("wrong_state", `git: ${stderr || error.message}`))
      if (!/[=\n]/.test(stdout)) return resolve(stdout)
      reject(new MeanwhileError("wrong_state", "The repository names a filter that cannot be switched off."))
    })
  })
}

const ENDLESS = `git did not read the repository's settings within ${LONGEST_LOOK_MS / 1_000} s, so the command was not run. See which files its .git/config includes.`
