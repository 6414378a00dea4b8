import { EFFECTS, type Effect } from "../../plugin/effect.ts"
import { guessCommands } from "./command-parts.ts"
import { programEffects } from "./known-programs.ts"
import { type PlainCommand, readPlainCommand } from "./plain-command.ts"
import { PROGRAMS, withoutValues } from "./program-table.ts"
import { isReadingGit, splitGitWords } from "./reading-git.ts"

/** Redirections to files; those to another descriptor, or to nowhere, write none. */
const WRITES_FILE = />(?!&\d|&-|\(|>?\s*\/dev\/null\b)/

/**
 * The effects of a command, as far as its text tells. Contract: only a plain command whose program, options and operands
 * are all in a table can be without `unknown`. All other text has it, beside the effects of the programs that it seems
 * to name: enough to refuse it, and never to allow it.
 */
export function commandEffects(text: string): readonly Effect[] {
  const plain = readPlainCommand(text)
  const known = plain && plainEffects(plain)
  if (known && !known.includes("unknown")) return inOrder(known)
  const guessed = guessCommands(text).flatMap(plainEffects)
  return inOrder([...guessed, ...(WRITES_FILE.test(text) ? (["write"] as const) : []), "unknown"])
}

function plainEffects({ program, rest }: Pick<PlainCommand, "program" | "rest">): readonly Effect[] {
  if (program === "git") return gitEffects(rest)
  if (!installs(program, rest)) return programEffects(program, rest)
  return rest.some((word) => word.startsWith("-")) ? ["install", "unknown"] : ["install"]
}

/** Package managers, by the words that the table of durations has for installing. */
function installs(program: string, rest: readonly string[]): boolean {
  const rule = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  const subcommand = rule && withoutValues(rule, rest).find((word) => !word.startsWith("-"))
  return subcommand === undefined ? rule?.bare === "install" : (rule?.install?.split(" ").includes(subcommand) ?? false)
}

/** Effects of git's subcommands that do more than read. All of them may run hooks and filters of the repository. */
export const GIT_EFFECTS: Readonly<Partial<Record<Effect, string>>> = {
  write:
    "add am apply branch checkout cherry-pick clone commit config fetch init merge mv notes pull rebase reflog remote " +
    "reset restore revert stash submodule switch tag worktree",
  delete: "clean gc prune rm",
  send: "clone fetch ls-remote pull push send-email submodule",
}

function gitEffects(words: readonly string[]): readonly Effect[] {
  if (isReadingGit(words)) return []
  const { subcommand = "" } = splitGitWords(words)
  return [...EFFECTS.filter((effect) => GIT_EFFECTS[effect]?.split(" ").includes(subcommand)), "unknown"]
}

function inOrder(effects: readonly Effect[]): readonly Effect[] {
  return EFFECTS.filter((effect) => effects.includes(effect))
}
