import type { Effect } from "../../plugin/effect.ts"

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

/** The same for the subcommands of git. */
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
 * hence patterns that take more than they must. Where there are any, arguments that only the shell knows are `unknown`.
 */
export const ADDED_EFFECTS: Readonly<Record<string, readonly Addition[]>> = {
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
export const GIT_LISTINGS: Readonly<Record<string, RegExp>> = {
  branch: /^(?:(?:-a|-r|-v|-vv|--all|--list|--remotes|--show-current) ?)*$/,
  config: /^(?:--list|-l|--get [\w.-]+)$/,
  reflog: /^(?:show)?$/,
  remote: /^(?:-v)?$/,
  stash: /^list$/,
  tag: /^(?:-l|--list)?$/,
  worktree: /^list$/,
}

/** Programs whose second name is a file that they write. */
export const SECOND_NAME_WRITTEN: ReadonlySet<string> = new Set(["uniq", "xxd"])

export function effectsIn(table: EffectWords, word: string): readonly Effect[] | undefined {
  const found = Object.entries(table).filter(([, words]) => words.split(" ").includes(word))
  if (found.length === 0) return undefined
  return found.flatMap(([effect]) => (effect === "none" ? [] : [effect as Effect]))
}
