import { accessSync, constants, type Stats, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import type { ProcessRequest } from "../../plugin/process.ts"

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

/** The request with the program's full path, or the refusal of one that could never run. Starts and writes nothing. */
export function resolveProgram(request: ProcessRequest): readonly [string, ...string[]] {
  const [program, ...parameters] = request.argv
  const texts = [...request.argv, request.cwd, ...Object.entries(request.env).flat()]
  if (texts.some((text) => text.includes("\0"))) {
    throw new MeanwhileError(
      "invalid_input",
      "A command, its directory and its environment cannot hold a NUL character.",
    )
  }
  const { cwd } = request
  if (!isAbsolute(cwd) || !look(cwd)?.isDirectory()) {
    const problem = isAbsolute(cwd) ? "does not exist" : "is not an absolute path"
    const message = `The working directory ${cwd} ${problem}. Give the absolute path of a directory that exists.`
    throw new MeanwhileError("invalid_input", message, { cwd })
  }
  const path = findProgram(program, request)
  if (path === undefined) {
    throw new MeanwhileError(
      "invalid_input",
      `The program ${program || "(empty)"} was not found. Check its name and the PATH it is looked up in.`,
      { program, path: request.env["PATH"] ?? DEFAULT_PATH },
    )
  }
  return [path, ...parameters]
}

function findProgram(program: string, request: ProcessRequest): string | undefined {
  if (program === "") return undefined
  if (program.includes("/")) {
    const path = resolve(request.cwd, program)
    return isExecutable(path) ? path : undefined
  }
  return (request.env["PATH"] || DEFAULT_PATH)
    .split(":")
    .map((folder) => join(resolve(request.cwd, folder), program))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  if (!look(path)?.isFile()) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
