import { expect, it } from "vitest"
import { commandParts } from "./command-unwrap.ts"

const textsOf = (input: object) => commandParts(input)?.map((part) => (part as { command: string }).command) ?? null

it.each([
  ["npm test", ["npm test"]],
  ["npm   test 2>&1 >/dev/null", ["npm test"]],
  ["npm test; rm -rf build", ["npm test", "rm -rf build"]],
  ["npm test | tee log && ls", ["npm test", "tee log", "ls"]],
  ["npm test $(rm x)", ['npm test "$(rm x)"', "rm x"]],
  ["npm test > ~/.bashrc", ["npm test", "> ~/.bashrc"]],
  ["npm 'test; rm x'", ["npm 'test; rm x'"]],
  ['npm "test $x"', ['npm "test $x"']],
  ["PATH=/tmp npm test", ["PATH=/tmp npm test"]],
  ["x=1", ["x=1"]],
  ["/usr/bin/git push", ["git push"]],
  ["./git push", ["./git push"]],
  ["timeout 5 env git push", ["timeout 5 env git push", "env git push", "git push"]],
  ["sh -c 'git push; ls'", ["sh -c 'git push; ls'", "git push", "ls"]],
  ["if true; then git push; fi", ["true", "git push"]],
  ["echo $((1 + 1))", null],
  ["echo 'open", null],
])("what %s consists of: %j", (command, texts) => {
  expect(textsOf({ command })).toEqual(texts)
})

it("counts variables of the call that change what programs do", () => {
  expect(textsOf({ command: "npm test", env: { PATH: "/tmp", LANG: "C" } })).toEqual(["PATH=", "npm test"])
})

it("keeps the other fields of the input", () => {
  expect(commandParts({ command: "ls; pwd", cwd: "web" })).toEqual([
    { command: "ls", cwd: "web" },
    { command: "pwd", cwd: "web" },
  ])
  expect(commandParts({})).toBeNull()
  expect(commandParts("ls")).toBeNull()
})
