import type { ShellWord } from "./shell-word.ts"

/** Prints, leaves out or replaces lines. The commands that write, run or read other files are not among them. */
const SED_ADDRESS = String.raw`(?:\d+|\$|/[^/\\\n]*/)`
const SED_COMMAND = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,\+?${SED_ADDRESS})?)?(?:[pdq=]|s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)$`,
)

/** `sed -n '1,200p' file` and the like. A script that says more than this, or `-i`, may do anything. */
export function isReadingSed(words: readonly ShellWord[]): boolean {
  if (words.some((word) => word.isExpanded)) return false
  const texts = words.map(({ word }) => word)
  const options = texts.filter((word) => word.startsWith("-") && word !== "-")
  if (options.some((option) => !/^-[nEr]+$/.test(option))) return false
  const script = texts.find((word) => !word.startsWith("-"))
  return script !== undefined && script.split(";").every((command) => SED_COMMAND.test(command.trim()))
}

/** Awk writes, runs and connects by these alone; a program that only compares with `>` is taken for one that writes. */
const AWK_ACTION = /[>|@]|system|getline|close|fflush/

export function isReadingAwk(words: readonly ShellWord[]): boolean {
  const texts = words.map(({ word }) => word)
  let at = 0
  while (/^-F./.test(texts[at] ?? "") || texts[at] === "-F" || texts[at] === "-v") at += texts[at]?.length === 2 ? 2 : 1
  const script = texts[at]
  if (script === undefined || words.slice(0, at + 1).some((word) => word.isExpanded)) return false
  return !script.startsWith("-") && !AWK_ACTION.test(script) && !words.slice(at + 1).some(isOption)
}

/** Some kinds of awk take options after the program too. */
function isOption({ word, isExpanded }: ShellWord): boolean {
  return isExpanded || word.startsWith("-")
}
