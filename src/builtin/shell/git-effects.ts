import type { Effect } from "../../plugin/effect.ts"
import { ADDED_EFFECTS, effectsIn, GIT_EFFECTS, GIT_LISTINGS } from "./effect-table.ts"
import type { ShellWord } from "./shell-word.ts"

/** Before the subcommand: all others, such as `-c`, can make git run something else. */
const HARMLESS_OPTIONS = new Set(["--no-pager", "-P", "--no-optional-locks", "--version", "--literal-pathspecs"])

export function gitEffects(words: readonly ShellWord[]): readonly Effect[] {
  if (words.some((word) => word.isExpanded)) return ["unknown"]
  const texts = words.map(({ word }) => word)
  let at = 0
  while (HARMLESS_OPTIONS.has(texts[at] ?? "") || texts[at] === "-C") at += texts[at] === "-C" ? 2 : 1
  const subcommand = texts[at]
  if (subcommand === undefined) return []
  const rest = texts.slice(at + 1)
  if (Object.hasOwn(GIT_LISTINGS, subcommand) && GIT_LISTINGS[subcommand]?.test(rest.join(" "))) return []
  const own = effectsIn(GIT_EFFECTS, subcommand)
  if (!own) return ["unknown"]
  const added = (ADDED_EFFECTS["git"] ?? []).filter(([, argument]) => rest.some((word) => argument.test(word)))
  return [...own, ...added.map(([effect]) => effect)]
}
