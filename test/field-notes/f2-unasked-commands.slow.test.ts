import { execFileSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { beforeEach, expect, test } from "vitest"
import { readPlainCommand } from "../../src/builtin/shell/plain-command.ts"
import { assertProperty } from "../support/assert-property.ts"
import { tryUnasked } from "../support/builtin/unasked.ts"
import { createFolder } from "../support/workplace.ts"

const KEY = "k3y-of-a-provider-93451"
const FILES = { a: "one\ntwo\n", "b.json": '{"a":1}\n', "-exec": "x\n", "-delete": "x\n", "--output=out": "x\n" }

let folder = ""
let cwd = ""
let trap = ""

/** A folder with files that look like options, and a program beside them that leaves a trace. */
beforeEach(() => {
  folder = createFolder()
  cwd = join(folder, "work")
  trap = join(folder, "trapped")
  mkdirSync(cwd)
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text)
  symlinkSync("/proc", join(folder, "processes"))
  symlinkSync("/proc/999999999", join(folder, "gone"))
  for (const name of ["evil", "ls", "cat", "git", "pr", "gzip"]) {
    writeFileSync(join(cwd, name), `#!/bin/sh\necho "$0" >> ${trap}\n`)
    chmodSync(join(cwd, name), 0o755)
  }
})

const look = () =>
  JSON.stringify(
    readdirSync(cwd, { recursive: true, encoding: "utf8" }).map((name) => [
      name,
      readFileSync(join(cwd, name), "utf8"),
    ]),
  )

test.each([
  // the note's own
  "echo '1'>a",
  'echo "1">a',
  "xargs -I a evil a -0 ./evil",
  "xargs -I{} -n1 ./evil",
  "sed 's/[/]x/y/w out/' a",
  "sed -n '/[/w out/p' a",
  "sed -n 1,2w\\ out a",
  "sed -n '1e ./evil' a",
  "((a[$(./evil)]))",
  "[[ a[$(./evil)] -eq 1 ]]",
  "find *",
  "find . *",
  "find . -exec ./evil ;",
  "find . '-exec' ./evil ';'",
  "find . -fprint out",
  'r"m" a',
  "r\\m a",
  "e''nv",
  // what prints the environment, or a file of another place by expansion
  "env",
  "printenv",
  "export",
  "set",
  "ps auxe",
  "ps -auxe",
  "ps -axe",
  "ps -ax -e",
  "ps -u aux -e",
  "ps -u 99999 -e",
  "echo $KEY",
  "cat ~/.ssh/id_rsa",
  "cat {a,b}",
  // what the kernel tells of other processes
  "cat /proc/1/environ",
  "xxd -p /proc/1/environ",
  "cat /proc/999999999/environ",
  "cat ../../../../../../../../proc/1/environ",
  "cat /usr/../proc/1/environ",
  "cat ../processes/1/environ",
  "cat ../gone/environ",
  "head -c 9 /dev/sda",
  "find /sys -name x",
  "ls --color=/proc/1/environ",
  "sort -k2 /dev/fd/0",
  "strings @/proc/1/environ",
  "strings @a",
  "git -C /proc/1 status",
  "git diff a ../processes/1/environ",
  "grep -r KEY /",
  "rg KEY /",
  "grep -R KEY .",
  "rg -L KEY .",
  "diff -r ../processes .",
  // what changes or starts something
  "sort -o out a",
  "sort -oout a",
  "sort --outp=out a",
  "sort --compress-program=./evil a",
  "uniq a out",
  "xxd -r a out",
  "tree -o out",
  "rg --pre ./evil x",
  "fd -x ./evil",
  "diff -l a b.json",
  // what stands behind a number
  "fd -0x sh evil",
  "fd -d1x sh evil",
  "file -0C",
  "file -0z a",
  "tree -L1o out",
  "rg -0z x",
  "rg -C1z x",
  "diff -u3l a b.json",
  "diff -3l a b.json",
  "git grep -1O x",
  "git grep -C1O x",
  "sort -k1o out a",
  // a file named like an option
  "uniq -- a -c",
  "uniq a -c",
  "uniq - -c",
  "xxd -- a -b",
  "xxd a -b",
  "xxd a -l16",
  "cat -- -exec",
  "git log -- --output=out",
  "cat -- a --",
  "date 01010101",
  "hostname evil",
  "tar -xf a",
  "./ls",
  "ls;./evil",
  "ls&&./evil",
  "ls\n./evil",
  "ls|./evil",
  "ls $(./evil)",
  "ls `./evil`",
  "ls <(./evil)",
  "ls # a\n./evil",
  "PATH=. ls",
  "ls > out",
  "ls 2>out",
  "ls &",
  "ls \u00a0a",
  "ls\ta",
  "ls\ra",
  "=ls",
  "command ls",
  "exec ls",
  "nohup ls",
  "timeout 5 ls",
  "git grep -O./evil x",
  "git -c alias.status=!./evil status",
  "git --exec-path=. status",
  "git log --output=out",
  "git diff --ext-diff",
  "git log --show-signature",
  "git ls-remote ext::./evil",
  "git status --ignore-submodules=none",
  "git branch evil",
  "git tag evil",
])("F2. Shell text that the reader takes for harmless runs nothing unasked: %j is asked about", async (command) => {
  expect((await tryUnasked(command, { cwd, environment: { KEY } })).wasAsked).toBe(true)
})

test("F2. In a folder of the kernel everything is asked about, and at the root what reads all files below it", async () => {
  for (const command of ["cat environ", "ls", "git status"])
    expect((await tryUnasked(command, { cwd: "/proc/self" })).wasAsked, command).toBe(true)
  expect((await tryUnasked("grep -r KEY", { cwd: "/" })).wasAsked).toBe(true)
  expect((await tryUnasked("ls", { cwd: "/" })).wasAsked).toBe(false)
  expect((await tryUnasked("cat /dev/null", { cwd: "/" })).wasAsked).toBe(false)
})

test("F2. A program of the workspace is not the one of the table, wherever PATH has it", async () => {
  for (const path of [cwd, `${cwd}:/usr/bin:/bin`, ".:/usr/bin:/bin", ":/usr/bin:/bin", "node_modules/.bin:/usr/bin"]) {
    expect((await tryUnasked("ls -a", { cwd, environment: { PATH: path } })).wasAsked, path).toBe(true)
  }
  expect(await tryUnasked("ls -a", { cwd })).toMatchObject({
    wasAsked: false,
    printed: expect.stringContaining("-exec"),
  })
  expect(existsSync(trap)).toBe(false)
})

const PROGRAMS = [
  ..."ls cat head grep find sed sort uniq diff file stat wc echo printf date jq xxd du od strings cut tail".split(" "),
  ..."env sh xargs awk tee rm ./evil evil git eval time command python3 perl".split(" "),
]
const OPTIONS = [
  ..."-a -n -r -l -R -e -c -1 -rn -la -f -i -o -d -s -u -x -p -z -I -O -exec -delete -fprint -name -type --color".split(
    " ",
  ),
  ..."--output=out --pre=./evil -ok + ; {} -w -T --files0-from=a --compress-program=./evil -C --no-pager -no".split(
    " ",
  ),
]
const WORDS = [
  ..."a b.json . .. -exec 1,2p 1p;w 1e aux e 's/a/b/w' '1w out' \"1p\" 'a b' out status log {} {a,b} ~ * ? [a-z]*".split(
    " ",
  ),
  "$(./evil)",
  "`./evil`",
  "$KEY",
  "${KEY}",
  "'./evil'",
  "/proc/self/environ",
]
const GLUE = [
  ";",
  "&&",
  "|",
  "||",
  "&",
  "\n",
  ">out",
  "2>out",
  "<a",
  "#",
  "\\",
  "'",
  '"',
  "((",
  "))",
  "[[",
  "=",
  "KEY=1 ",
]

const hostile = fc
  .tuple(
    fc.constantFrom(...PROGRAMS),
    fc.array(fc.constantFrom(...OPTIONS), { maxLength: 2 }),
    fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(60), fc.constantFrom(...GLUE, "./evil", " ")), { maxLength: 2 }),
  )
  .map(([program, options, words, cuts]) =>
    cuts
      .filter(([at]) => at % 3 === 0)
      .reduce(
        (text, [at, glue]) => `${text.slice(0, at)}${glue}${text.slice(at)}`,
        [program, ...options, ...words].join(" "),
      ),
  )

test("F2. Whatever runs unasked changes nothing, sends nothing and reads no key", async () => {
  const before = look()
  const copy = join(folder, "copy")
  cpSync(cwd, copy, { recursive: true })
  const ran = new Set<string>()
  await assertProperty(
    fc.asyncProperty(hostile, async (command) => {
      const { wasAsked, printed } = await tryUnasked(command, { cwd, environment: { KEY, HOME: folder } })
      if (wasAsked) return
      ran.add(command)
      expect(printed).not.toContain(KEY)
      expect(look()).toBe(before)
      expect(existsSync(trap)).toBe(false)
    }),
    { numRuns: 1_000 },
  )
  expect(ran.size).toBeGreaterThan(50)
})

const PIECES = [
  ..."ab -=~{},*?[]()$`'\"\\;&|<>#!^%@:./+1\n\té".split(""),
  "  ",
  "'a b'",
  '"a b"',
  "a",
  "b",
  "-c",
  " ",
  " ",
]
const MARK = "end-of-words"

test("F2. What counts as plain words is what every shell makes of them", () => {
  const shells = ["/bin/sh", "/bin/bash", "/bin/zsh", "/bin/ksh"].filter((path) => existsSync(path))
  const plain: string[] = []
  const collect = (pieces: readonly string[]): void => {
    if (readPlainCommand(`x ${pieces.join("")}`)) plain.push(pieces.join(""))
  }
  const text = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 })
  assertProperty(fc.property(text, collect), { numRuns: 20_000 })
  expect(plain.length).toBeGreaterThan(500)
  const script = plain.map((words) => `printf '%s\\0' ${words} ${MARK}`).join("\n")
  const read = plain.map((words) => [...(readPlainCommand(`x ${words}`)?.rest ?? []), MARK, ""].join("\0")).join("")
  for (const shell of shells) expect(execFileSync(shell, ["-c", script], { cwd, encoding: "utf8" })).toBe(read)
  expect(existsSync(trap)).toBe(false)
})
