import { dirname, posix } from "node:path"
import { isTest, type SourceFile } from "./violations.ts"

/** The folders of `runner/`, highest first: each may import those below it. `runner.ts` composes them all. */
export const RUNNER_FOLDERS: Readonly<Record<string, string>> = {
  service: "the task service, bound to one run or not, and the commands of conversations",
  shutdown: "drain, handoff and stop when a process leaves",
  queue: "queued tasks are offered, claimed or skipped; a worker announces what it can run",
  recover: "runs of workers that are gone, and folders without a task",
  foreground: "calls that a caller waits for, and their promotion",
  start: "calls that begin in the background; adoption, retry, resume, steering",
  ask: "questions to a person, and answers to every wait",
  turn: "turns of conversations as runs",
  result: "results are waited for, read, used and, later, taken away",
  group: "groups of tasks, and the gate of those that a person decides on",
  stop: "a cancel and a new time limit wherever the task runs, remote stops, lifetimes, the deletion of a session",
  execute: "one execution, from the call of its tool to its written end",
  admit: "whether a call may run (permission, children, hops), and what its record will say",
  output: "output of a run on its way to the spool, the store and listeners",
  run: "what a run is: its standing, fence, journal, deadline, slots",
  worker: "this process among others: its lease, its data folder, its own work",
  tool: "tools by name, and how long their calls take",
  limits: "configuration and slots",
  spool: "files of output and processes, one folder a run",
  process: "processes and their groups",
  commit: "commits that are repeated, and what became of those whose answer was lost",
  redaction: "secrets found and taken out",
}

/** Groups of folders of which each can be reached from each by imports. A folder and one inside it are two. */
export function findFolderCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const targets = toFolderImports(files)
  const reachable = new Map([...targets.keys()].map((folder) => [folder, reach(folder, targets)]))
  const groups = [...reachable].map(([folder, reached]) =>
    [...reached].filter((other) => reachable.get(other)?.has(folder)).toSorted(),
  )
  const cycles = new Map(groups.filter((group) => group.length > 1).map((group) => [group.join(" "), group]))
  return [...cycles.values()]
}

/** Imports in `runner/` that lead up, or to a folder that the list above does not have. */
export function findUpwardImports(files: readonly SourceFile[]): readonly string[] {
  const order = ["runner", ...Object.keys(RUNNER_FOLDERS).map((name) => `runner/${name}`)]
  const isUpward = (from: string, to: string): boolean =>
    order.indexOf(to) < order.indexOf(from) || !order.includes(from)
  return [...toFolderImports(files)]
    .filter(([from]) => from === "runner" || from.startsWith("runner/"))
    .flatMap(([from, targets]) =>
      [...targets].filter((to) => /^runner(\/|$)/.test(to) && isUpward(from, to)).map((to) => `${from} imports ${to}`),
    )
}

function toFolderImports(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const targets = new Map<string, Set<string>>()
  for (const { path, imports } of files) {
    if (isTest(path)) continue
    const folder = dirname(path)
    const known = targets.get(folder) ?? new Set()
    targets.set(folder, known)
    for (const { specifier } of imports) {
      const target = dirname(posix.join(folder, specifier))
      if (specifier.startsWith(".") && target !== folder) known.add(target)
    }
  }
  return targets
}

function reach(start: string, targets: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const target of targets.get(folder) ?? []) {
      if (reached.has(target)) continue
      reached.add(target)
      open.push(target)
    }
  }
  return reached
}
