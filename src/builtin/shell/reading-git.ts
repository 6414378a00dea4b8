import { areKnown, type KnownWords, toKnownWords } from "./known-words.ts"

const HISTORY =
  "-# -n# -p -s -u -i -q -z -a -b -w -S -G -L -U# -M# -C# --oneline --graph --stat --shortstat --numstat --summary --name-only " +
  "--name-status --patch --no-patch --decorate --no-decorate --all --branches --tags --remotes --author --committer " +
  "--since --until --after --before --grep --max-count --skip --reverse --follow --merges --no-merges --first-parent " +
  "--format --pretty --abbrev-commit --date --date-order --topo-order --unified --color --no-color --word-diff " +
  "--diff-filter --cached --staged --exit-code --quiet --check --raw --full-history --left-right --no-walk --relative " +
  "--no-renames --find-renames --minimal --patience --histogram --text"

/** Subcommands that only tell something. Left out: what can open a pager, run a driver, print a secret of the configuration. */
const READING = toKnownWords({
  "diff log show shortlog": `${HISTORY} -e`,
  status: "-s -b -u -z --short --branch --porcelain --long --untracked-files --ignored --no-renames",
  blame: "-L# -w -M# -C# -e -l -s -t -f -n --date --since --line-porcelain --porcelain",
  grep:
    "-n -i -l -L -c -w -v -h -H -E -F -P -G -e -A# -B# -C# -# -a -I -q --cached --untracked --count --line-number " +
    "--ignore-case --name-only --files-with-matches --and --or --not --context --max-depth --show-function",
  "ls-files": "-c -o -s -t -z --cached --others --stage --exclude-standard --exclude --full-name --directory",
  "ls-tree": "-r -d -t -l -z --name-only --full-name --full-tree --long",
  "rev-parse":
    "--show-toplevel --abbrev-ref --short --verify --git-dir --is-inside-work-tree --show-prefix --show-cdup -q --quiet",
  "rev-list":
    "-# -n# --count --all --max-count --since --until --no-merges --merges --first-parent --left-right --reverse",
  describe: "--tags --always --abbrev --long --all --exact-match --match --contains",
  "cat-file": "-p -t -s -e",
  "check-ignore": "-v -q -n --verbose --no-index",
  "for-each-ref": "--sort --count --format --contains --merged --no-merged --points-at",
  "merge-base name-rev show-ref count-objects version --version":
    "-a -v -H --all --is-ancestor --tags --heads --verify --abbrev",
  "branch worktree stash remote tag reflog": "",
})

/** Subcommands that change something unless they are asked to list: the words they may have. */
const LISTINGS: Readonly<Record<string, RegExp>> = {
  branch: /^(?:(?:-a|-r|-v|-vv|--all|--list|--remotes|--show-current) ?)*$/,
  reflog: /^(?:show)?$/,
  remote: /^(?:-v)?$/,
  stash: /^list$/,
  tag: /^(?:-l|--list)?$/,
  worktree: /^list$/,
}

/** Options that may stand before the subcommand. All others, such as `-c`, can make git run something else. */
const HARMLESS_BEFORE = new Set(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"])

/** Words that forbid the programs that a repository names for showing differences, and looks into its submodules. */
const DIFFERENCES = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--submodule=short"]
const FORBIDDING: ReadonlyMap<string, readonly string[]> = new Map([
  ["blame", ["--no-textconv"]],
  ["diff", DIFFERENCES],
  ["grep", ["--no-textconv", "--no-recurse-submodules"]],
  ["log", DIFFERENCES],
  ["show", DIFFERENCES],
  ["status", ["--ignore-submodules=all"]],
])

interface GitWords {
  readonly before: readonly string[]
  readonly subcommand: string | undefined
  readonly rest: readonly string[]
}

export function splitGitWords(words: readonly string[]): GitWords {
  let at = 0
  while (HARMLESS_BEFORE.has(words[at] ?? "") || words[at] === "-C") at += words[at] === "-C" ? 2 : 1
  return { before: words.slice(0, at), subcommand: words[at], rest: words.slice(at + 1) }
}

/** True if the words of a git command only tell something about a repository, given that `toCautiousGit` runs them. */
export function isReadingGit(words: readonly string[]): boolean {
  const { subcommand = "", rest } = splitGitWords(words)
  if (Object.hasOwn(LISTINGS, subcommand)) return LISTINGS[subcommand]?.test(rest.join(" ")) ?? false
  const known: KnownWords | undefined = READING.get(subcommand)
  return known !== undefined && areKnown(known, rest)
}

export const READING_SUBCOMMANDS: readonly string[] = [...READING.keys()].toSorted()

/**
 * Settings that win over those of a repository, which may come from anybody. Git runs programs that a repository names
 * also while it only reads: to see what changed, to check signatures, to fetch objects that are not there.
 */
const SETTINGS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "safe.bareRepository=explicit",
  "diff.autoRefreshIndex=false",
  "log.showSignature=false",
  "gpg.program=false",
  "gpg.openpgp.program=false",
  "gpg.x509.program=false",
  "gpg.ssh.program=false",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
]

/** Variables for the same: no write to the index, no transport, no question for a password, no settings of a caller. */
export const CAUTIOUS_GIT_VARIABLES = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
}

/** The words that list the names of a repository's filters, for `toCautiousGit`. */
export function toFilterQuestion(words: readonly string[]): readonly string[] {
  return [...splitGitWords(words).before, "config", "--null", "--name-only", "--get-regexp", String.raw`^filter\.`]
}

/** The words of a reading git command, with `filters` as `toFilterQuestion` printed them, so that git runs no other program. */
export function toCautiousGit(words: readonly string[], filters: string): readonly string[] {
  const { before, subcommand = "", rest } = splitGitWords(words)
  const settings = [...SETTINGS, ...toFilterNames(filters).flatMap(toDisabled)].flatMap((setting) => ["-c", setting])
  const forbidding = FORBIDDING.get(subcommand) ?? []
  return [...before, "--no-pager", ...settings, subcommand, ...forbidding, ...rest]
}

function toFilterNames(printed: string): readonly string[] {
  const keys = printed.split("\0").filter((key) => key !== "")
  return [...new Set(keys.map((key) => key.slice("filter.".length, key.lastIndexOf("."))))]
}

const toDisabled = (name: string): readonly string[] => [
  `filter.${name}.clean=`,
  `filter.${name}.smudge=`,
  `filter.${name}.process=`,
  `filter.${name}.required=false`,
]
