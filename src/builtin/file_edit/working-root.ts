import { realpathSync } from "node:fs"
import { lstat, readlink, realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { isInside, type PathRules, rightTo } from "./protected-path.ts"
import { unlessMissing } from "../../base/system-error.ts"

/** A path that was found to lie inside the root, symbolic links included. */
export interface Place {
  /** From the root, with `/`: what people and models are shown. */
  readonly path: string
  /** Absolute and real. */
  readonly absolute: string
  /** The nearest folder above it that exists. Absolute and real. */
  readonly folder: string
  /** The folders between that one and the file, which do not exist yet. */
  readonly missing: readonly string[]
  readonly name: string
}

export type Purpose = "read" | "change"

/** The one folder that files are read and written in. */
export interface WorkingRoot {
  /** Contract: refuses whatever lies outside, and what must not be used for the purpose. Changes nothing. */
  locate(path: string, purpose: Purpose): Promise<Place>
  /** An absolute path, which a process with another root refuses. A path that no root accepts stays unchanged. */
  pin(path: string): string
  /** For a pinned path. Says nothing about permission to use it. */
  isHere(path: string): boolean
}

/** Control characters, and marks that turn the direction of text: a person who is asked must see the name as it is. */
const CONTROL = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const LONGEST_PATH = 4_096

export function createWorkingRoot(root: string, rules: PathRules): WorkingRoot {
  return {
    locate: async (path, purpose) => {
      const problem = problemOf(path)
      if (problem !== undefined) throw new MeanwhileError("invalid_input", problem)
      const realRoot = await realpath(root)
      const asked = resolve(realRoot, path)
      // An absolute path may be written with the root as it was given, which may itself be a link.
      const toRealRoot = (given: string): string =>
        isInside(root, given) ? resolve(realRoot, relative(root, given)) : given
      const absolute = toRealRoot(asked)
      if (!isInside(realRoot, absolute)) throw toOutside(path)
      const place = await toPlace(realRoot, absolute, path)
      const found = await followLink(realRoot, place, purpose, path)
      const right = rightTo(found.absolute, relative(realRoot, found.absolute), await toRealRules(rules, toRealRoot))
      if (right === "none" || (right === "read" && purpose === "change")) throw toProtected(found, right)
      return found
    },
    isHere: (path) => !isAbsolute(path) || isInside(root, path) || isInside(toRealFolder(root), path),
    pin: (path) => (problemOf(path) === undefined ? resolve(root, path) : path),
  }
}

/** The root's real path. As in `locate`, a root that is a link may be named by either path. */
function toRealFolder(root: string): string {
  try {
    return realpathSync(root)
  } catch {
    return root
  }
}

async function toRealRules(rules: PathRules, toRealRoot: (path: string) => string): Promise<PathRules> {
  const toReal = async (path: string): Promise<string> => (await unlessMissing(realpath(path))) ?? toRealRoot(path)
  return {
    privatePaths: await Promise.all(rules.privatePaths.map(toReal)),
    protectedPaths: await Promise.all(rules.protectedPaths.map(toReal)),
  }
}

function problemOf(path: string): string | undefined {
  if (/^~(?:\/|$)/.test(path)) {
    return `"${path}" would be a folder named ~, not the home folder. Give a path from the working folder.`
  }
  if (path.trim() !== "" && path.length <= LONGEST_PATH && !CONTROL.test(path)) return undefined
  return "A path must be a plain text without control characters, at most 4096 long. Give one from the working folder."
}

async function toPlace(realRoot: string, absolute: string, asked: string): Promise<Place> {
  if (absolute === realRoot) throw new MeanwhileError("invalid_input", `"${asked}" is a folder. Name a file in it.`)
  const missing: string[] = []
  let folder = dirname(absolute)
  let realFolder = await unlessMissing(realpath(folder))
  while (realFolder === undefined) {
    // A dangling link is there: no folder is made where it leads.
    if (await unlessMissing(lstat(folder))) throw toOutside(asked)
    missing.unshift(basename(folder))
    folder = dirname(folder)
    realFolder = await unlessMissing(realpath(folder))
  }
  if (!isInside(realRoot, realFolder)) throw toOutside(asked)
  if (!(await lstat(realFolder)).isDirectory()) {
    const message = `"${relative(realRoot, realFolder)}" is a file, not a folder, so "${asked}" cannot be in it.`
    throw new MeanwhileError("invalid_input", message, { path: asked })
  }
  return toPlaceIn(realRoot, realFolder, missing, basename(absolute))
}

function toPlaceIn(realRoot: string, folder: string, missing: readonly string[], name: string): Place {
  const absolute = join(folder, ...missing, name)
  return { path: relative(realRoot, absolute).split(sep).join("/"), absolute, folder, missing, name }
}

/** Reading follows a link that stays inside; a change is made under the name of the file itself, or not at all. */
async function followLink(realRoot: string, place: Place, purpose: Purpose, asked: string): Promise<Place> {
  if (place.missing.length > 0) return place
  const found = await unlessMissing(lstat(place.absolute))
  if (!found?.isSymbolicLink()) return place
  const target = await unlessMissing(realpath(place.absolute))
  if (target === undefined || !isInside(realRoot, target)) throw toOutside(asked)
  if (purpose === "read") return toPlaceIn(realRoot, dirname(target), [], basename(target))
  const leadsTo = await readlink(place.absolute)
  throw new MeanwhileError(
    "invalid_input",
    `"${place.path}" is a symbolic link to "${leadsTo}". Name the file that it leads to.`,
    { path: place.path },
  )
}

function toOutside(path: string): MeanwhileError {
  const message = `"${path}" is outside the working folder, or a link that leads there. Only files inside can be used.`
  return new MeanwhileError("permission_denied", message, { path })
}

function toProtected({ path }: Place, right: "read" | "none"): MeanwhileError {
  const what = right === "none" ? "neither read nor changed" : "read, but never changed,"
  return new MeanwhileError(
    "permission_denied",
    `"${path}" can be ${what} by a tool. Ask the person to do it, if it must be done.`,
    { path },
  )
}
