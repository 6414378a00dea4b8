import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const LAST_ROW = 88

/** Rows of the specification of background tasks that were decided otherwise: `docs/guide/plugins/background.md` says how. */
const DECIDED_OTHERWISE = [29, 50, 52, 74]

const ADAPTER = "src/plugin/background-adapter.test.ts"
const CARRIED = "test/plugin/carried-tools.test.ts"
const CONCURRENCY = "test/runner/config/concurrency.test.ts"
const DISCOVERY = "test/background/discovery.test.ts"
const EXECUTE = "test/runner/execute.test.ts"
const FORECAST = "src/builtin/shell/command-forecast.test.ts"
const JAATO = "test/background/jaato-tools.test.ts"
const KILLED = "test/field-notes/a8-kill-9.slow.test.ts"
const PATTERNS = "test/background/usage-patterns.test.ts"
const RETENTION = "test/runner/config/retention.test.ts"
const TIMES = "test/runner/config/times.test.ts"

/** Rows that another test shows: its file, and the beginning of its name or what it checks. */
const ELSEWHERE: Readonly<Record<number, readonly [file: string, what: string]>> = {
  1: [ADAPTER, "recognises what has all ten methods, and nothing else"],
  2: [
    CARRIED,
    "000-02: a plugin that runs its work elsewhere is discovered, and a call in the background is delegated",
  ],
  3: [PATTERNS, "000-58: pattern 1, the model starts a slow command"],
  4: [PATTERNS, "000-61: pattern 4, a call past its threshold"],
  5: ["test/mcp/everything.slow.test.ts", "goes on in the background with its progress when it takes long"],
  6: ["test/field-notes/b5-promoted-output.test.ts", "of a command, which was shown its beginning already"],
  7: ["src/builtin/web/web-reach.test.ts", "moves to the background after ten seconds"],
  8: [ADAPTER, "supports the background for every tool that may leave the foreground"],
  10: [PATTERNS, "000-58: pattern 1, the model starts a slow command"],
  11: [ADAPTER, "leaves the plugin as it was, and the capable one is still a plugin"],
  13: [ADAPTER, "returns a handle at once and hands the time limit on"],
  15: [ADAPTER, "answers with the current state at once, or with the result when it is asked to wait"],
  16: [ADAPTER, "recognises what has all ten methods, and nothing else"],
  17: [ADAPTER, "supports the background for every tool that may leave the foreground"],
  18: [ADAPTER, "gives the threshold in seconds: the tool's own, else the configured one, null for a tool that stays"],
  19: [ADAPTER, "estimates in seconds, and says null for a tool that is not its own"],
  20: [ADAPTER, "returns a handle at once and hands the time limit on"],
  22: [ADAPTER, "does not know unknown ids, nor tasks of other plugins"],
  23: [ADAPTER, "answers with the current state at once, or with the result when it is asked to wait"],
  25: [ADAPTER, "lists the active ones of this plugin only, over all pages"],
  26: [ADAPTER, "cleans up what was used long enough ago, and never what nobody has seen"],
  27: [ADAPTER, "registers work that already runs, without running it again"],
  28: ["test/field-notes/b4-readers.slow.test.ts", "after completion, again and again, until it is cleared"],
  30: [CONCURRENCY, "maxConcurrentPerPlugin: a full plugin queues its own tasks"],
  31: [PATTERNS, "000-61: pattern 4, a call past its threshold"],
  32: [ADAPTER, "null for a tool that stays"],
  33: [FORECAST, '["npm install", install, "npm install"]'],
  34: ["test/background/jaato-start.test.ts", "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"],
  35: [JAATO, '["running", "running", "running", "pending"]'],
  62: [EXECUTE, "a call past its threshold goes on as a task and is not run again"],
  63: [EXECUTE, "a call past its threshold goes on as a task and is not run again"],
  64: [EXECUTE, "a call that ends in time returns its result and leaves no record and no file"],
  65: [EXECUTE, "ending exactly at the threshold gives exactly one answer"],
  66: [CONCURRENCY, "maxConcurrentTasks: more tasks than it allows are queued until one ends"],
  67: [TIMES, "defaultTimeoutSeconds: a task that names no time limit ends by this one"],
  68: [RETENTION, "completedTaskRetentionSeconds: so long after it was used"],
  70: [CONCURRENCY, "maxConcurrentTasks: more tasks than it allows are queued until one ends"],
  72: [RETENTION, "completedTaskRetentionSeconds: so long after it was used"],
  75: [DISCOVERY, "000-56: a plugin is handed the tools of its neighbours"],
  76: [FORECAST, '["npm test", test, "npm test"]'],
  77: [FORECAST, '["make", build, "make"]'],
  78: ["test/mcp/second-generation.slow.test.ts", "has its task followed as ours to its end"],
  79: ["test/mcp/second-generation.slow.test.ts", "a connection that is lost in mid-call"],
  80: ["test/mcp/servers.test.ts", "backgroundAfterMs: 300"],
  81: [TIMES, "timeoutOverrideSeconds: caps every time limit, whoever asked for it"],
  82: ["test/cli/piped-program.slow.test.ts", "/cancel ${id}"],
  83: [KILLED, "a process that ended while nobody looked has its full output and exit code"],
  85: [PATTERNS, "000-61: pattern 4, a call past its threshold"],
  88: [KILLED, "everything else ends up reclaimed or `interrupted`"],
}

const FOLDER = "test/background"
const tests = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".test.ts") && name !== "rows.test.ts")
  .map((name) => readFileSync(join(FOLDER, name), "utf8"))
  .join("\n")

const toName = (row: number): string => `000-${String(row).padStart(2, "0")}`
const rows = Array.from({ length: LAST_ROW }, (_, index) => index + 1)
const wanted = rows.filter((row) => !DECIDED_OTHERWISE.includes(row))

test.each(wanted.map((row) => [toName(row), ELSEWHERE[row]] as const))("%s is shown by a test", (name, elsewhere) => {
  if (!elsewhere) return expect(tests.includes(`"${name}: `)).toBe(true)
  const [file, what] = elsewhere
  expect(readFileSync(file, "utf8")).toContain(what)
})

test("no test names a row that is shown elsewhere or does not exist, and none names a row twice", () => {
  const named = [...tests.matchAll(/"000-(\d\d): /g)].map(([, row]) => Number(row))
  expect(named.filter((row) => !wanted.includes(row) || ELSEWHERE[row])).toEqual([])
  expect(named.filter((row, index) => named.indexOf(row) !== index)).toEqual([])
})
