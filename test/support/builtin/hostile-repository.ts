import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Everything by which git may run a program of a repository while somebody only looks at it. */
const settings = (evil: string, hooks: string) => [
  ["core", "fsmonitor", evil],
  ["core", "pager", evil],
  ["pager", "log", evil],
  ["core", "editor", evil],
  ["core", "sshCommand", evil],
  ["core", "askPass", evil],
  ["core", "hooksPath", hooks],
  ["diff", "external", evil],
  ['diff "evil"', "command", evil],
  ['diff "evil"', "textconv", evil],
  ["diff", "submodule", "diff"],
  ["diff", "ignoreSubmodules", "none"],
  ['filter "evil"', "clean", evil],
  ['filter "evil"', "smudge", evil],
  ['filter "evil"', "required", "true"],
  ['filter "two words"', "process", evil],
  ['merge "evil"', "driver", evil],
  ["gpg", "program", evil],
  ['gpg "ssh"', "program", evil],
  ["log", "showSignature", "true"],
  ["log", "diffMerges", "remerge"],
  ["format", "pretty", "%h %G? %s"],
  ["status", "submoduleSummary", "true"],
  ["submodule", "recurse", "true"],
  ['submodule "sub"', "ignore", "none"],
  ["interactive", "diffFilter", evil],
  ["credential", "helper", evil],
  ["alias", "status", `!${evil}`],
  ["alias", "log", `!${evil}`],
  ['protocol "ext"', "allow", "always"],
  ["extensions", "partialClone", "origin"],
  ['remote "origin"', "promisor", "true"],
  ['remote "origin"', "url", `ext::${evil}`],
  ['remote "origin"', "uploadpack", evil],
  ["include", "path", "more"],
]

export interface HostileRepository {
  readonly cwd: string
  /** HOME is a folder without settings of a person. */
  readonly environment: Readonly<Record<string, string>>
  /** A program that leaves a trace. */
  readonly evil: string
  /** Forgets what ran, and makes git look into the files again: their content is the same, their time is another. */
  reset(): void
  hasRun(): boolean
  /** Runs git as a person does, without care. */
  git(...words: string[]): void
}

/** A repository with a submodule, a signed commit and a missing object, whose own settings name a program wherever they can. */
export function createHostileRepository(folder: string): HostileRepository {
  const cwd = join(folder, "repository")
  const trap = join(folder, "trapped")
  const evil = join(folder, "evil")
  const environment = { HOME: folder, GIT_CONFIG_NOSYSTEM: "1" }
  const git = (place: string, ...words: string[]) =>
    execFileSync("git", words, { cwd: place, env: { ...process.env, ...environment }, encoding: "utf8", stdio: "pipe" })
  function commit(place: string): void {
    git(place, "add", "-A")
    git(place, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "message")
  }
  function create(name: string): string {
    const place = join(folder, name)
    mkdirSync(place)
    git(place, "init", "-q")
    for (const file of ["a.txt", "b.txt"]) writeFileSync(join(place, file), "one\n")
    return place
  }
  writeProgram(evil, `echo "$0 $*" >> ${trap}`)
  mkdirSync(join(folder, "hooks"))
  writeProgram(join(folder, "hooks", "post-index-change"), `echo hook >> ${trap}`)
  commit(create("origin"))
  create("repository")
  writeFileSync(join(cwd, ".gitattributes"), "*.txt diff=evil filter=evil merge=evil\n")
  const submodule = ["submodule", "--quiet", "add", "--name", "sub", join(folder, "origin"), "sub"]
  git(cwd, "-c", "protocol.file.allow=always", ...submodule)
  commit(cwd)
  writeFileSync(join(cwd, "a.txt"), "two\n")
  commit(cwd)
  sign(cwd)
  for (const part of ["config", "modules/sub/config"]) {
    const lines = settings(evil, join(folder, "hooks")).map(
      ([section, key, value]) => `[${section}]\n\t${key} = "${value}"\n`,
    )
    writeFileSync(join(cwd, ".git", part), lines.join(""), { flag: "a" })
  }
  writeFileSync(join(cwd, ".git", "more"), `[filter "third"]\n\tclean = ${evil}\n`)
  writeFileSync(join(cwd, ".git", "info", "attributes"), "c.txt filter=third\nb.txt filter=two\n")
  writeFileSync(join(cwd, "c.txt"), "three\n")
  writeFileSync(join(cwd, "sub", "a.txt"), "changed\n")
  return {
    cwd,
    environment,
    evil,
    reset() {
      rmSync(trap, { force: true })
      for (const name of ["a.txt", "b.txt"]) utimesSync(join(cwd, name), new Date(), new Date())
    },
    hasRun: () => existsSync(trap),
    git: (...words) => void git(cwd, ...words),
  }
}

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

/** Gives the last commit a signature, and takes away an object that its tree needs. */
function sign(cwd: string): void {
  const git = (input: string, ...words: string[]) => execFileSync("git", words, { cwd, input, encoding: "utf8" }).trim()
  const signature = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n"
  const signed = `${git("", "cat-file", "commit", "HEAD")}\n`.replace("\n\n", signature)
  git("", "update-ref", "HEAD", git(signed, "hash-object", "-t", "commit", "-w", "--stdin"))
  const blob = git("", "rev-parse", "HEAD:.gitattributes")
  rmSync(join(cwd, ".git", "objects", blob.slice(0, 2), blob.slice(2)), { force: true })
}
