import { EFFECTS, type Effect } from "../../plugin/effect.ts"
import { PROGRAMS, withoutValues } from "./program-table.ts"
import { type Redirection, readScript, type ScriptPart } from "./script-reading.ts"
import type { ShellWord } from "./shell-word.ts"
import { areHarmlessNames, isHarmlessAssignment, isHarmlessVariable } from "./variable-name.ts"
import { unwrapWords } from "./wrapped-words.ts"

const UNKNOWN: readonly Effect[] = ["unknown"]
const NOTHING: readonly Effect[] = []
const STANDARD_FOLDER = /^(?:\/usr)?(?:\/local)?\/s?bin\//
const HARMLESS_TARGET = /^(?:\/dev\/(?:null|stdout|stderr|tty)|\/dev\/fd\/\d+)$/
const NETWORK_TARGET = /^\/dev\/(?:tcp|udp)\//
/** Text that some shells execute in arithmetic, as zsh does in `test` and `printf`. */
const SUBSCRIPT = /\[[^\]]*(?:\$\(|`)/
const DEEPEST = 8

/**
 * The effects of a command, as far as its text tells: the union over all its parts. Contract: what cannot be
 * read, and every program that is not in the table, is `unknown`; nothing is believed to be harmless by default.
 */
export function commandEffects(text: string, environment: Readonly<Record<string, string>> = {}): readonly Effect[] {
  const isPlain = Object.keys(environment).every(isHarmlessVariable)
  return inOrder([...scriptEffects(text, 0), ...(isPlain ? NOTHING : UNKNOWN)])
}

function scriptEffects(text: string, depth: number): readonly Effect[] {
  const parts = depth > DEEPEST ? undefined : readScript(text)
  return parts?.flatMap((part) => partEffects(part, depth)) ?? UNKNOWN
}

function partEffects({ words, redirections }: ScriptPart, depth: number): readonly Effect[] {
  return [...redirections.flatMap(redirectionEffects), ...wordEffects(words, depth)]
}

export function redirectionEffects({ operator, target }: Redirection): readonly Effect[] {
  if (operator === "<<<") return NOTHING
  if (NETWORK_TARGET.test(target.word)) return ["send"]
  const isDescriptor = operator.endsWith("&") && !target.isExpanded && /^(?:\d+|-)$/.test(target.word)
  if (isDescriptor || (!target.isExpanded && HARMLESS_TARGET.test(target.word))) return NOTHING
  const fromShell = target.isExpanded ? UNKNOWN : NOTHING
  return operator.includes(">") ? ["write", ...fromShell] : fromShell
}

function wordEffects(words: readonly ShellWord[], depth: number): readonly Effect[] {
  const start = words.findIndex((word) => !word.isAssignment)
  const assignments = start < 0 ? words : words.slice(0, start)
  const fromAssignments = assignments.every(isHarmlessAssignment) ? NOTHING : UNKNOWN
  if (start < 0) return fromAssignments
  return [...fromAssignments, ...programEffects(words.slice(start), depth)]
}

function programEffects(words: readonly ShellWord[], depth: number): readonly Effect[] {
  const [first, ...rest] = words
  if (!first) return NOTHING
  const program = first.isExpanded ? undefined : toKnownName(first.word)
  if (program === undefined || depth > DEEPEST) return UNKNOWN
  const wrapped = unwrapWords(program, rest)
  if (wrapped) {
    return [
      ...wrapped.effects,
      ...wrapped.commands.flatMap((command) => wordEffects(command, depth + 1)),
      ...wrapped.scripts.flatMap((script) => scriptEffects(script, depth + 1)),
    ]
  }
  if (program === "git") return gitEffects(rest)
  if (program === "sed") return isReadingSed(rest) ? NOTHING : UNKNOWN
  if (program === "awk") return isReadingAwk(rest) ? NOTHING : UNKNOWN
  if (/^(?:read|export|local|readonly|unset)$/.test(program)) return areHarmlessNames(rest) ? NOTHING : UNKNOWN
  return tableEffects(program, rest)
}

function tableEffects(program: string, rest: readonly ShellWord[]): readonly Effect[] {
  const own = effectsIn(PROGRAM_EFFECTS, program)
  if (!own) return installs(program, rest) ? ["install"] : UNKNOWN
  const additions = Object.hasOwn(ADDED_EFFECTS, program) ? ADDED_EFFECTS[program] : undefined
  const dependsOnWords = additions !== undefined || SECOND_NAME_WRITTEN.has(program)
  const names = rest.filter(({ word }) => !/^-./.test(word))
  return [
    ...own,
    ...(dependsOnWords && rest.some((word) => word.isExpanded) ? UNKNOWN : NOTHING),
    ...(rest.some(({ word, isExpanded }) => !isExpanded && SUBSCRIPT.test(word)) ? UNKNOWN : NOTHING),
    ...(SECOND_NAME_WRITTEN.has(program) && names.length > 1 ? (["write"] as const) : NOTHING),
    ...(additions ?? []).flatMap(([effect, argument]) =>
      rest.some(({ word }) => argument.test(word)) ? [effect] : NOTHING,
    ),
  ]
}

/** Package managers, by the words that the table of durations has for installing. */
function installs(program: string, rest: readonly ShellWord[]): boolean {
  const rule = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  if (!rule || rest.some((word) => word.isExpanded)) return false
  const words = withoutValues(
    rule,
    rest.map(({ word }) => word),
  )
  const subcommand = words.find((word) => !word.startsWith("-"))
  return subcommand === undefined ? rule.bare === "install" : (rule.install?.split(" ").includes(subcommand) ?? false)
}

/** A program is known by its name only where programs are installed: `./ls` can be anything. */
export function toKnownName(path: string): string | undefined {
  const name = path.replace(STANDARD_FOLDER, "")
  return name.includes("/") ? undefined : name
}

function inOrder(effects: readonly Effect[]): readonly Effect[] {
  return EFFECTS.filter((effect) => effects.includes(effect))
}

/** Harmless options before git's subcommand. All others, such as `-c`, can make git run something else. */
const HARMLESS_OPTIONS = new Set(["--no-pager", "-P", "--no-optional-locks", "--version", "--literal-pathspecs"])

function gitEffects(words: readonly ShellWord[]): readonly Effect[] {
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

/** Commands of sed that print, leave out or replace lines, and none that writes, runs or reads another file. */
const SED_ADDRESS = String.raw`(?:\d+|\$|/[^/\\\n]*/)`
const SED_COMMAND = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,\+?${SED_ADDRESS})?)?(?:[pdq=]|s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)$`,
)

/** `sed -n '1,200p' file` and the like. A script that says more than this, or `-i`, may do anything. */
function isReadingSed(words: readonly ShellWord[]): boolean {
  if (words.some((word) => word.isExpanded)) return false
  const texts = words.map(({ word }) => word)
  const options = texts.filter((word) => word.startsWith("-") && word !== "-")
  if (options.some((option) => !/^-[nEr]+$/.test(option))) return false
  const script = texts.find((word) => !word.startsWith("-"))
  return script !== undefined && script.split(";").every((command) => SED_COMMAND.test(command.trim()))
}

/** Awk writes, runs and connects only by these. A program that merely compares with `>` counts as one that writes. */
const AWK_ACTION = /[>|@]|system|getline|close|fflush/

function isReadingAwk(words: readonly ShellWord[]): boolean {
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

type EffectWords = Readonly<Partial<Record<Effect | "none", string>>>

/**
 * Effects of programs, with any arguments. A program in several rows has all their effects; a program in none is
 * `unknown`.
 */
export const PROGRAM_EFFECTS: EffectWords = {
  none:
    ": [ arch b2sum base64 basename break cat cd cksum cmp column comm continue cut date df diff dir dirname du echo " +
    "egrep exit expand expr false fd fdfind fgrep file fmt fold free getconf grep groups head hexdump hostname id join jq " +
    "locale logname ls lsblk lscpu lsof md5sum nl nproc od paste pgrep popd pr printenv printf ps pushd pwd readlink " +
    "realpath return rev rg seq set sha1sum sha256sum sha512sum shift sleep sort stat strings sum tac tail test tr tree " +
    "true tsort tty type umask uname unexpand uniq uptime wait wc whereis which who whoami xxd yes",
  write:
    "bunzip2 bzip2 chgrp chmod chown cp dd gunzip gzip install link ln mkdir mkfifo mktemp mv patch rsync split tar tee " +
    "touch truncate unxz unzip unzstd wget xz zip zstd",
  delete: "rm rmdir shred unlink",
  send:
    "curl dig ftp gh host mail mailx mutt nc ncat netcat nslookup ping rsync scp sendmail sftp socat ssh ssh-copy-id " +
    "telnet traceroute wget whois",
  run_as: "doas pkexec runuser su sudo",
}

/** As `PROGRAM_EFFECTS`, for the subcommands of git. */
export const GIT_EFFECTS: EffectWords = {
  none:
    "blame cat-file check-ignore count-objects describe diff diff-tree for-each-ref grep log ls-files ls-tree merge-base " +
    "name-rev rev-list rev-parse shortlog show show-ref status var version whatchanged",
  write:
    "add am apply branch checkout cherry-pick clone commit config fetch init merge mv notes pull rebase reflog remote " +
    "reset restore revert stash submodule switch tag worktree",
  delete: "clean gc prune rm",
  send: "clone fetch ls-remote pull push send-email submodule",
}

type Addition = readonly [effect: Effect, argument: RegExp]

/**
 * Effects that an argument adds to those of a program. Long options may be shortened and short ones written together,
 * hence patterns that match more than they must. In programs listed here, arguments that only the shell knows are
 * `unknown`.
 */
const ADDED_EFFECTS: Readonly<Record<string, readonly Addition[]>> = {
  "[": [["unknown", /^-[vR]$/]],
  curl: [["write", /^-(?!X)[^-]*[oOJDcK]|^--(?:o|remote-n|du|cookie-j|conf|tr|std|etag-s|hs|lib)/]],
  date: [["unknown", /^-[^-I]*s|^--s|^\d{8}/]],
  fd: [["unknown", /^-[^-]*[xX]|^--exec/]],
  fdfind: [["unknown", /^-[^-]*[xX]|^--exec/]],
  file: [["write", /^-[^-]*C|^--c/]],
  git: [
    ["write", /^--o(?:u|$|=)/],
    ["unknown", /^-[^-]*O|^--(?:op|ext|te)/],
  ],
  hostname: [["unknown", /^[^-]|^-[^-]*[Fb]|^--(?:f|b)/]],
  printf: [["unknown", /^-v/]],
  rg: [["unknown", /^--(?:pre(?:$|=)|hostname-bin)/]],
  rsync: [
    ["delete", /^--(?:del|rem)/],
    ["unknown", /^-[^-]*e|^--rs/],
  ],
  sort: [
    ["write", /^-[^-]*o|^--o/],
    ["unknown", /^--co/],
  ],
  ssh: [["unknown", /^-[^-]*[oFJ]/]],
  tar: [
    ["delete", /^--(?:remo|recu|un)/],
    ["unknown", /^-?[A-Za-z]*[IF]|^--(?:to-|ch|us|inf|ne|rsh|rmt)/],
  ],
  test: [["unknown", /^-[vR]$/]],
  tree: [["write", /^-[^-]*[oR]|^--o/]],
  wait: [["unknown", /^-[^-]*p/]],
  zip: [
    ["delete", /^-[^-]*m|^--m/],
    ["unknown", /^-[^-]*T|^--unz/],
  ],
}

/** How subcommands of git that change things are asked to list instead. */
const GIT_LISTINGS: Readonly<Record<string, RegExp>> = {
  branch: /^(?:(?:-a|-r|-v|-vv|--all|--list|--remotes|--show-current) ?)*$/,
  config: /^(?:--list|-l|--get [\w.-]+)$/,
  reflog: /^(?:show)?$/,
  remote: /^(?:-v)?$/,
  stash: /^list$/,
  tag: /^(?:-l|--list)?$/,
  worktree: /^list$/,
}

/** Programs whose second name is a file that they write. */
const SECOND_NAME_WRITTEN: ReadonlySet<string> = new Set(["uniq", "xxd"])

function effectsIn(table: EffectWords, word: string): readonly Effect[] | undefined {
  const found = Object.entries(table).filter(([, words]) => words.split(" ").includes(word))
  if (found.length === 0) return undefined
  return found.flatMap(([effect]) => (effect === "none" ? [] : [effect as Effect]))
}
