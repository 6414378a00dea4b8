import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"

/** One row of the machine's process table. */
export interface ProcessEntry {
  readonly pid: number
  readonly parentPid: number
  readonly groupId: number
  /** One letter, as `ps` shows it: Z is a zombie, T is stopped, D cannot be interrupted. */
  readonly state: string
  /** When the process started, in this system's own format. Only good for comparing: a reused pid has another start. */
  readonly startedAt: string
}

export interface MarkedEntry extends ProcessEntry {
  readonly isMarked: boolean
}

const isLinux = process.platform === "linux"

export const isZombie = (entry: ProcessEntry): boolean => entry.state === "Z" || entry.state === "X"

/** Undefined when there is no such process. A zombie is returned as one. */
export function readProcess(pid: number): ProcessEntry | undefined {
  if (isLinux) return readLinuxProcess(pid)
  return parsePsRows(runPs(["-p", String(pid)]))[0]
}

/** True if the pid still belongs to the same process, and it is alive. Cheap: looks at this one process. */
export function isStillAlive({ pid, startedAt }: Pick<ProcessEntry, "pid" | "startedAt">): boolean {
  const entry = readProcess(pid)
  return entry !== undefined && entry.startedAt === startedAt && !isZombie(entry)
}

/**
 * Every process of the machine, and whether its environment holds `marker`: `NAME=value`, or the beginning of a value up
 * to one of its slashes. Without `marker` no process is marked.
 */
export function listProcesses(marker?: string): MarkedEntry[] {
  if (!isLinux) {
    const isMarked = (command: string): boolean =>
      marker !== undefined && findEnding(command, marker, " ") !== undefined
    return parsePsRows(runPs(["-axEww"])).map((row) => ({ ...row, isMarked: isMarked(row.command) }))
  }
  return listLinuxPids().flatMap((pid) => {
    const entry = readLinuxProcess(pid)
    return entry ? [{ ...entry, isMarked: marker !== undefined && findLinuxEnding(pid, marker) !== undefined }] : []
  })
}

/** The text behind the marker, for each process that carries the marker. */
export function listMarkerEndings(marker: string): string[] {
  const endings = isLinux
    ? listLinuxPids().map((pid) => findLinuxEnding(pid, marker))
    : parsePsRows(runPs(["-axEww"])).map((row) => findEnding(row.command, marker, " "))
  return endings.filter((ending) => ending !== undefined)
}

/** The children of a process and theirs, looked up one by one: cheaper than the whole table. Empty except on Linux. */
export function listDescendants(pid: number): ProcessEntry[] {
  const children = listThreads(pid).flatMap((thread) => {
    const text = readText(`/proc/${pid}/task/${thread}/children`)?.trim()
    return text ? text.split(" ").map(Number) : []
  })
  return children.flatMap((child) => {
    const entry = readLinuxProcess(child)
    return entry ? [entry, ...listDescendants(child)] : []
  })
}

/** The command line of the process; its bare name if the arguments cannot be read. */
export function readCommand(pid: number): string {
  if (!isLinux) return parsePsRows(runPs(["-ww", "-p", String(pid)]))[0]?.command ?? ""
  const command = readText(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim()
  return command || (readText(`/proc/${pid}/comm`)?.trim() ?? "")
}

/**
 * True if a process that started after `pid` may carry the marker. `pid` itself started at most `withinMs` ago. Exact on
 * Linux, where only the processes started since are looked at. Elsewhere that is not cheap, and the answer is true.
 */
export function mayHaveMarkedSuccessor(pid: number, marker: string, withinMs: number): boolean {
  if (!isLinux) return true
  const newestPid = Number(readText("/proc/loadavg")?.split(" ").at(-1))
  const started = newestPid - pid
  if (withinMs < NO_FULL_CIRCLE_MS && started >= 0 && started <= FEW_PROCESSES) {
    for (let candidate = pid + 1; candidate <= newestPid; candidate++) {
      if (findLinuxEnding(candidate, marker) !== undefined) return true
    }
    return false
  }
  // Pids are given in turn and wrap around. A pid outside this range existed before, unless they went full circle.
  const isNew = (each: number): boolean =>
    started >= 0 ? each > pid && each <= newestPid : each > pid || each <= newestPid
  const candidates = withinMs < NO_FULL_CIRCLE_MS ? listLinuxPids().filter(isNew) : listLinuxPids()
  return candidates.some((each) => findLinuxEnding(each, marker) !== undefined)
}

const FEW_PROCESSES = 64
/** No machine starts so many processes in this time that all pids are used up. */
const NO_FULL_CIRCLE_MS = 2_000

function listLinuxPids(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger)
}

function listThreads(pid: number): string[] {
  try {
    return isLinux ? readdirSync(`/proc/${pid}/task`) : []
  } catch {
    return []
  }
}

function readLinuxProcess(pid: number): ProcessEntry | undefined {
  const text = statSync(`/proc/${pid}`, { throwIfNoEntry: false }) && readText(`/proc/${pid}/stat`)
  if (!text) return undefined
  // The name in parentheses may itself hold spaces and parentheses: what follows the last one is fixed.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return {
    pid,
    state: fields[0] ?? "",
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    startedAt: fields[19] ?? "",
  }
}

function findLinuxEnding(pid: number, marker: string): string | undefined {
  const environment = statSync(`/proc/${pid}`, { throwIfNoEntry: false }) && readText(`/proc/${pid}/environ`)
  return environment ? findEnding(environment, marker, "\0") : undefined
}

/** After the marker the value must end or go on with a slash: the marker of process 1 must not match process 10. */
function findEnding(environment: string, marker: string, separator: string): string | undefined {
  const text = `${separator}${environment}${separator}`
  const start = text.indexOf(`${separator}${marker}`)
  if (start < 0) return undefined
  const from = start + separator.length + marker.length
  const ending = text.slice(from, text.indexOf(separator, from))
  return ending === "" || ending.startsWith("/") ? ending : undefined
}

/** Undefined when the process is gone, or is not ours to read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return undefined
  }
}

const PS_COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=,command="

function runPs(selection: readonly string[]): string {
  try {
    return execFileSync("/bin/ps", [...selection, "-o", PS_COLUMNS], {
      encoding: "utf8",
      env: { LC_ALL: "C", TZ: "UTC" },
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    })
  } catch {
    return ""
  }
}

const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(\w{3} \w{3}\s+\d+ [\d:]+ \d{4})\s+(.*)$/

export function parsePsRows(text: string): (ProcessEntry & { readonly command: string })[] {
  return text.split("\n").flatMap((line) => {
    const match = PS_ROW.exec(line)
    if (!match) return []
    const [, pid, parentPid, groupId, state = "", startedAt = "", command = ""] = match
    return [
      {
        pid: Number(pid),
        parentPid: Number(parentPid),
        groupId: Number(groupId),
        state,
        startedAt: startedAt.replace(/\s+/g, " "),
        command,
      },
    ]
  })
}
