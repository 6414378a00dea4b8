import { toProgramName, unwrapScript } from "./command-unwrap.ts"
import { readPlainCommand } from "./plain-command.ts"
import { parseScript } from "./shell-word.ts"

export interface GuessedCommand {
  readonly program: string
  readonly rest: readonly string[]
}

/** Programs that start another one somewhere behind their own words: each of them may be it. */
const ANYWHERE = new Set(
  (
    "bwrap busybox cgexec chpst chroot chrt coproc daemonize dbus-run-session eatmydata entr eval expect fakechroot " +
    "faketime fakeroot find firejail flock gdb gosu linux32 linux64 ltrace nsenter numactl parallel perf pkexec prlimit " +
    "proot proxychains rlwrap runcon runuser screen script setarch setpriv softlimit start-stop-daemon strace su su-exec " +
    "systemd-run taskset tmux torsocks toybox trap unbuffer unshare valgrind watch xargs xvfb-run"
  ).split(" "),
)
/** All programs that start another one, which their words or their input name, here or on another machine. */
const STARTERS = new Set([
  ...ANYWHERE,
  ...(
    ". ash at bash batch builtin bunx caffeinate command crontab csh dash doas docker env exec fish incus ionice kubectl " +
    "ksh lxc mksh mosh nerdctl nice nohup npx pipx pnpx podman rsh setsid sh source ssh sshpass stdbuf sudo tcsh time " +
    "timeout uvx zsh"
  ).split(" "),
])
/** How far such a text is looked through. */
const MOST_PLACES = 100
const MOST_WORDS = 50
/** Where a command may begin inside of a word: substitutions and subshells. */
const OPENINGS = /[$<>]?\(|\)|`/

/**
 * The commands that a text seems to run: those of pipes, lists and substitutions, and those that `sh -c`, `env`, `xargs`
 * and the like start. A guess, which may name too many and miss some: good for a reason to refuse or to ask.
 */
export function guessCommands(text: string): readonly GuessedCommand[] {
  return [text, ...text.split(OPENINGS)].flatMap((each) => [
    ...parseScript(each).commands.flatMap(({ words }) => toStarted(words)),
    ...unwrapScript(each).commands,
  ])
}

/** The command itself; of one that starts another somewhere behind it, also everything that may be the other. */
function toStarted(words: readonly string[]): readonly GuessedCommand[] {
  const [path = "", ...rest] = words
  const program = toProgramName(path)
  const others = ANYWHERE.has(program) ? rest.slice(0, MOST_PLACES).map((_, at) => rest.slice(at, at + MOST_WORDS)) : []
  return [
    { program, rest },
    ...others.map(([first = "", ...after]) => ({ program: toProgramName(first), rest: after })),
  ]
}

export const isStarter = (program: string): boolean => STARTERS.has(program)

export interface CommandParts {
  /** The calls of `run_command` that this one seems to consist of, with the whole of it. */
  readonly parts: readonly unknown[]
  /** `plain`: one program with plain words and no variables of its own, and nothing else. */
  readonly form: "plain" | "complex"
}

/** The parts of a call of `run_command`. The first is the whole command, with single spaces if it is plain. */
export function commandParts(input: unknown): CommandParts {
  if (!isCommandInput(input)) return { parts: [input], form: "complex" }
  const { command, env } = input
  const plain = readPlainCommand(command)
  const guessed = guessCommands(command).map(({ program, rest }) => [program, ...rest].join(" "))
  const texts = [...new Set([plain?.text ?? command, ...guessed])]
  return {
    parts: texts.map((text) => ({ ...input, command: text })),
    form: plain !== undefined && Object.keys(env ?? {}).length === 0 ? "plain" : "complex",
  }
}

function isCommandInput(input: unknown): input is { readonly command: string; readonly env?: object } {
  return typeof input === "object" && input !== null && "command" in input && typeof input.command === "string"
}
