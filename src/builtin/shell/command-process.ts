import { execFile } from "node:child_process"
import { definedVariables } from "../../base/environment.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { type Effect, EFFECTS } from "../../plugin/effect.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import { commandEffects } from "./command-effects.ts"
import { findInstalled, STANDARD_FOLDERS } from "./installed-program.ts"
import { type PlainCommand, readPlainCommand } from "./plain-command.ts"
import { CAUTIOUS_GIT_VARIABLES, toCautiousGit, toFilterQuestion } from "./reading-git.ts"

export interface CommandSurroundings {
  readonly shell: string
  readonly environment: Readonly<Record<string, string>>
  /** Looked in after the folders of PATH. */
  readonly extraPaths: readonly string[]
}

interface CommandCall {
  readonly command: string
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** The effects of a call on this machine. Variables of its own, and a program from an odd place, may do anything. */
export function callEffects(surroundings: CommandSurroundings, call: CommandCall): readonly Effect[] {
  const effects = commandEffects(call.command)
  const isKnown = effects.includes("unknown") || findProgram(surroundings, call) !== undefined
  return isKnown ? effects : EFFECTS.filter((effect) => effect === "unknown" || effects.includes(effect))
}

/**
 * The process of a call in the folder `cwd`. A call without effects may run unasked, and is started without a shell: as
 * the very program and words that were judged, with no other variables than those below.
 */
export async function toProcess(
  surroundings: CommandSurroundings,
  call: CommandCall & { readonly cwd: string },
  run: Pick<ToolContext, "act" | "signal">,
): Promise<ProcessRequest> {
  const { command, cwd, env } = call
  const program = commandEffects(command).length === 0 ? findProgram(surroundings, call) : undefined
  if (!program) return { argv: [surroundings.shell, "-c", command], cwd, env: toEnvironment(surroundings, env) }
  const own = toBareEnvironment(surroundings.environment)
  if (program.name !== "git") return { argv: [program.path, ...program.rest], cwd, env: own }
  const cautious = { ...own, ...CAUTIOUS_GIT_VARIABLES }
  const question = toFilterQuestion(program.rest)
  const filters = await run.act(() => listFilters(program.path, question, { cwd, env: cautious, signal: run.signal }))
  return { argv: [program.path, ...toCautiousGit(program.rest, filters)], cwd, env: cautious }
}

interface FoundProgram extends Pick<PlainCommand, "rest"> {
  readonly name: string
  readonly path: string
}

/** The program of a plain call without variables of its own. Undefined if it is not installed where programs are. */
function findProgram(surroundings: CommandSurroundings, { command, env = {} }: CommandCall): FoundProgram | undefined {
  const plain = Object.keys(env).length === 0 ? readPlainCommand(command) : undefined
  const path = plain && findInstalled(plain.program, toEnvironment(surroundings)["PATH"])
  return plain && path !== undefined ? { name: plain.program, path, rest: plain.rest } : undefined
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

function toBareEnvironment(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const own = Object.fromEntries(BARE.map((name) => [name, environment[name]]))
  return definedVariables({ ...own, PATH: STANDARD_FOLDERS.join(":") })
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
