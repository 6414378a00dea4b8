import { execFileSync } from "node:child_process"
import { appendFileSync, constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, expect, test } from "vitest"
import { createHostileRepository, type HostileRepository } from "../support/builtin/hostile-repository.ts"
import { tryUnasked } from "../support/builtin/unasked.ts"

const READING = [
  "git status",
  "git status --short --branch",
  "git diff",
  "git diff --stat HEAD",
  "git diff --cached",
  "git log",
  "git log -p",
  'git log "--format=%G? %s" -3',
  "git log --stat --all",
  "git show",
  "git show HEAD:a.txt",
  "git blame a.txt",
  "git grep one",
  "git ls-files -s",
  "git ls-tree -r HEAD",
  "git cat-file -p HEAD:.gitattributes",
  "git rev-list --count HEAD",
  "git shortlog HEAD",
  "git describe --always",
  "git branch -a",
  "git stash list",
  "git reflog",
  "git remote -v",
  "git -C sub status",
  "git -C sub log -p",
]

let folder = ""
let repository: HostileRepository

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "meanwhile-test-"))
  repository = createHostileRepository(folder)
  return () => rmSync(folder, { recursive: true, force: true })
})

test.each(READING)(
  "F3. In a repository whose own configuration names programs, `%s` runs none of them",
  async (command) => {
    repository.reset()
    expect((await tryUnasked(command, repository)).wasAsked).toBe(false)
    expect(repository.hasRun()).toBe(false)
  },
)

test.each([
  ["status"],
  ["diff"],
  ["log", "-p", "-1"],
  ["-C", "sub", "status"],
  ["--paginate", "log", "-1", "--format=%G?"],
  ["cat-file", "-p", "HEAD:.gitattributes"],
])("F3. The same repository runs its programs where nobody takes care: git %s", (...words) => {
  repository.reset()
  try {
    repository.git(...words)
  } catch {
    // It may fail at what it has run.
  }
  expect(repository.hasRun()).toBe(true)
})

test("F3. Git writes nothing into the repository that it only reads", async () => {
  repository.reset()
  const index = join(repository.cwd, ".git", "index")
  const before = readFileSync(index)
  for (const command of ["git status", "git diff"]) await tryUnasked(command, repository)
  expect(readFileSync(index).equals(before)).toBe(true)
})

test("F3. A filter that cannot be switched off is not run: the command is refused", async () => {
  const cwd = join(folder, "odd")
  mkdirSync(cwd)
  repository.git("init", "-q", cwd)
  repository.git("-C", cwd, "config", "filter.a=b.clean", repository.evil)
  await expect(tryUnasked("git status", { ...repository, cwd })).rejects.toThrow(/cannot be switched off/)
})

test("F3. Settings whose read never ends hold nothing up: the look is ended, and the command is refused", async () => {
  const cwd = join(folder, "endless")
  const pipe = join(folder, "pipe")
  execFileSync("mkfifo", [pipe])
  repository.git("init", "-q", cwd)
  appendFileSync(join(cwd, ".git", "config"), `[include]\n\tpath = ${pipe}\n`)
  const stop = new AbortController()
  const stopped = tryUnasked("git status", { ...repository, cwd, signal: stop.signal })
  stop.abort(new Error("It was stopped."))
  await expect(stopped).rejects.toThrow("It was stopped.")
  await expect(tryUnasked("git status", { ...repository, cwd })).rejects.toThrow(
    /within 5 s, so the command was not run/,
  )
  // Nobody reads from the pipe any more.
  expect(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)).toThrow("ENXIO")
})
