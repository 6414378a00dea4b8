import type { Effect } from "../../plugin/effect.ts"
import { areKnown, isOption, type OperandRule, toKnownWords } from "./known-words.ts"

const COMPARING = "-q -s -i -w -b -B -u -N -y -a -# --brief --unified --color --exclude"
const HASHING = "-b -t -c --check --quiet --status --tag -a -l"
const MATCHING =
  "-r -n -i -l -c -v -w -x -o -E -F -P -G -e -A# -B# -C# -m# -h -H -s -q -a -I --include --exclude --exclude-dir " +
  "--color --count --ignore-case --line-number --only-matching --recursive --files-with-matches --max-count --context " +
  "--fixed-strings --word-regexp --invert-match --no-messages --null"

/**
 * Programs that only tell something, with the options that keep it so. Left out: what prints the environment, asks other
 * machines, runs another program, follows links that it finds, or cannot be of use without a pipe. Options of `find` are
 * words of their own.
 */
const READING = toKnownWords({
  "groups hostname logname nproc pwd true tty false whoami": "-a -L -P -s",
  "basename dirname echo printf": "-n -e -E -a -s -z",
  "cat nl tac": "-n -A -b -e -E -s -t -T -v -u -w -r",
  "cmp comm diff": COMPARING,
  "cksum b2sum md5sum sha1sum sha256sum sha512sum sum": HASHING,
  "cut paste join column expand unexpand fold fmt": "-d -f# -c# -b# -s -t# -z -i -a -1 -2 -j -o -v -e -w# --complement",
  date: "-u -d -I -R --utc --date --iso-8601 --rfc-3339",
  "df du free lscpu lsblk uptime":
    "-a -h -H -k -m -g -s -c -d# -x -T -i -b -l -p -t -f -S --max-depth --total --summarize",
  "fd fdfind":
    "-e -t -d# -H -I -a -i -s -g -F -E -p -0 --type --extension --hidden --no-ignore --max-depth --glob --exclude",
  file: "-b -i -L -h -k --brief --mime --mime-type",
  find:
    "-# -o -a -name -iname -path -ipath -regex -iregex -type -maxdepth -mindepth -size -empty -newer -mtime -mmin -ctime -cmin " +
    "-atime -amin -perm -user -group -links -inum -samefile -readable -writable -executable -not -and -or -prune -print " +
    "-print0 -ls -quit -true -false -depth -daystart -xdev -mount",
  "grep egrep fgrep": `${MATCHING} -L -z -#`,
  "head tail": "-# -n# -c# -q -v -f -F -s# --lines --bytes --follow --quiet",
  "hexdump od xxd strings": "-C -b -c# -d -o -x -A -t -j# -N# -n# -s# -v -l# -a -e -p -u",
  id: "-u -g -G -n -r",
  jq: "-r -c -M -S -e -s -n -R -a -j --arg --argjson --tab --indent --raw-output --compact-output --slurp --sort-keys",
  ls:
    "-a -A -l -h -t -r -R -S -1 -d -F -i -s -G -g -o -n -p -u -c -k -L -H -m -x -X -U -v --all --almost-all " +
    "--human-readable --recursive --reverse --sort --time --color --full-time --group-directories-first --inode --size",
  pgrep: "-f -l -a -x -u",
  ps: "-e -f -A -p",
  "readlink realpath": "-f -e -m -n -s -q -z --relative-to",
  rg:
    `${MATCHING} ` +
    "-g -t -T -S -N -p -u -U -f -j# --files --hidden --no-ignore --glob --iglob --type --stats --json --sort --max-depth " +
    "--before-context --after-context --no-heading --heading --smart-case --multiline --pcre2 --replace",
  sed: "-n -E",
  seq: "-# -w -s -f",
  sleep: "",
  sort: "-n -r -u -k# -t -f -b -d -g -h -i -M -V -s -z -c -C --reverse --unique --key --numeric-sort --version-sort",
  "stat uname": "-c -f -L -t -a -s -n -r -m -p -o --format --printf",
  tree: "-a -d -f -L# -I -P -s -h -D -F -i --dirsfirst --noreport --gitignore --prune",
  "uniq rev": "-c -d -u -i -f# -s# -w#",
  wc: "-l -w -c -m -L --lines --words --bytes",
})

/** Programs that do more, with the options that add nothing to it. With any other option nobody knows what they do. */
const CHANGING: Readonly<Partial<Record<Effect, ReturnType<typeof toKnownWords>>>> = {
  write: toKnownWords({
    "cp mv ln link": "-r -R -a -p -f -n -v -i -u -l -s -L -P -T -t --recursive --force --verbose",
    install: "-d -m# -p -v",
    "mkdir mkfifo mktemp": "-p -v -m# -d --parents",
    "touch truncate tee": "-a -c -m -r -d -t -s#",
    "chmod chown chgrp": "-R -v -f -c -h --recursive",
    "bunzip2 bzip2 gunzip gzip unxz unzstd xz zstd": "-k -f -v -d -c -#",
    "dd patch rsync split tar unzip wget zip": "",
  }),
  delete: toKnownWords({ "rm rmdir shred unlink": "-r -R -f -v -i -d -p --recursive --force --verbose" }),
  send: toKnownWords({
    curl: "-s -S -f -L -i -I -v -X -H -d --silent --show-error --fail --location --include --head --request --header --data",
    "dig host nslookup ping traceroute whois": "-c# -t -4 -6",
    "ftp gh mail mailx mutt nc ncat netcat rsync scp sendmail sftp socat ssh ssh-copy-id telnet wget": "",
  }),
  run_as: toKnownWords({ "doas pkexec runuser su sudo": "" }),
}

/** Programs that start others by what their operands say, by their own configuration, or as another user. */
const RUNS_OTHERS = new Set(
  "dd doas ftp gh mail mailx mutt patch pkexec rsync runuser scp sendmail sftp socat ssh ssh-copy-id su sudo tar telnet".split(
    " ",
  ),
)

/** A script of `sed` that prints lines by their numbers. */
const LINES_OF_SED = /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/

/** Some words make `ps` read all others as letters, and `e` then prints environments. So all words are compared. */
const LISTINGS_OF_PS = /^(?:|aux|ax|-A|-e|-f|-ef|-p \d+)$/

/** Programs for which an operand is more than a file to read, or a text. */
const OPERANDS: Readonly<Record<string, OperandRule>> = {
  date: (operands) => operands.every((operand) => operand.startsWith("+")),
  hostname: (operands) => operands.length === 0,
  ps: (_operands, words) => LISTINGS_OF_PS.test(words.join(" ")),
  // It reads further words from a file behind `@`, and names in an error what it cannot open.
  strings: (operands) => !operands.some((operand) => operand.startsWith("@")),
  sed: ([script = ""]) => LINES_OF_SED.test(script),
  uniq: endsWithOperand,
  xxd: endsWithOperand,
}

/** For a program that writes to its second operand, which may look like an option: at most the last word is one. */
function endsWithOperand(_operands: readonly string[], words: readonly string[]): boolean {
  return words.slice(0, -1).every(isOption)
}

/**
 * The effects of a program by its table. `unknown` is among them where an option or an operand is not in the table; a
 * program that is in no table has no other effect. `isReading`: the words are those of one that only tells something.
 */
export function programEffects(program: string, words: readonly string[]): readonly Effect[] {
  const reading = READING.get(program)
  if (reading) {
    const operands = Object.hasOwn(OPERANDS, program) ? OPERANDS[program] : undefined
    return areKnown({ ...reading, ...(operands && { operands }) }, words) ? [] : ["unknown"]
  }
  const found = Object.entries(CHANGING).flatMap(([effect, programs]) => {
    const known = programs.get(program)
    return known ? [{ effect: effect as Effect, isKnown: areKnown(known, words) }] : []
  })
  const isKnown = found.length > 0 && found.every((each) => each.isKnown) && !RUNS_OTHERS.has(program)
  return [...found.map(({ effect }) => effect), ...(isKnown ? [] : ["unknown" as const])]
}

/** The programs that have this effect, in the order of the alphabet; `none`: those that only tell something. */
export function programsWith(effect: Effect | "none"): readonly string[] {
  return [...((effect === "none" ? READING : CHANGING[effect])?.keys() ?? [])].toSorted()
}
