import type { ShellWord } from "./shell-word.ts"

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)\+?=/
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/**
 * Programs take their settings from variables in capitals. Only these are harmless: they change no more than how text is
 * split and printed.
 */
const HARMLESS_CAPITALS = /^(?:IFS|LANG|LC_[A-Z]+|TZ|CI|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|NODE_ENV|DEBUG)$/

export function isHarmlessAssignment({ word }: ShellWord): boolean {
  return isHarmlessVariable(ASSIGNMENT.exec(word)?.[1] ?? "")
}

/** To zsh `path` is PATH. */
const SEARCH_PATH = /^(?:cd|f|man|mail|module_)?path$/

/** True if a value for it cannot change what programs do, unlike PATH, LD_PRELOAD or GIT_PAGER. */
export function isHarmlessVariable(name: string): boolean {
  if (!NAME.test(name) || SEARCH_PATH.test(name)) return false
  return name === name.toLowerCase() || HARMLESS_CAPITALS.test(name)
}

/** The arguments of `read`, `export` and the like: names, with or without a value. */
export function areHarmlessNames(words: readonly ShellWord[]): boolean {
  return words.every((word) => {
    if (word.word === "-r") return true
    if (word.isAssignment) return isHarmlessAssignment(word)
    return !word.isExpanded && isHarmlessVariable(word.word)
  })
}
