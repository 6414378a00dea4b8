import { expect, it } from "vitest"
import { commandParts } from "./command-parts.ts"

const textsOf = (command: string) =>
  commandParts({ command }).parts.map((part) => (part as { command: string }).command)

it.each([
  ["npm   test", ["npm test"]],
  ["/usr/bin/git push", ["git push"]],
  ["./git push", ["./git push", "git push"]],
  ["npm 'test; rm x'", ["npm 'test; rm x'", "npm test; rm x"]],
])("a plain command %s consists of %j", (command, texts) => {
  expect(textsOf(command)).toEqual(texts)
  expect(commandParts({ command }).form).toBe("plain")
})

it.each([
  ["npm test; rm -rf build", "rm -rf build"],
  ["npm test | tee log && ls", "tee log"],
  ["npm test $(rm x)", "rm x"],
  ["echo `rm x`", "rm x"],
  ['echo "$(rm x)"', "rm x"],
  ["(cd a; rm x)", "rm x"],
  ["PATH=/tmp npm test", "npm test"],
  ["timeout 5 env git push;", "git push"],
  ["ls | xargs rm -f", "rm -f"],
  ["find . -exec rm {} +", "rm {} +"],
  ["sh -c 'git push; ls' &", "git push"],
  ["if true; then git push; fi", "git push"],
  ["npm test > ~/.bashrc", "npm test"],
])("a rule that refuses finds in %s also: %s", (command, part) => {
  expect(textsOf(command)).toContain(part)
  expect(commandParts({ command }).form).toBe("complex")
})

it("a call with variables of its own, or without a command, is not plain", () => {
  expect(commandParts({ command: "npm test", env: { CI: "1" } }).form).toBe("complex")
  expect(commandParts({ command: "npm test", env: {} }).form).toBe("plain")
  expect(commandParts({})).toEqual({ parts: [{}], form: "complex" })
})

it("keeps the other fields of the input", () => {
  expect(commandParts({ command: "ls; pwd", cwd: "web" }).parts).toContainEqual({ command: "pwd", cwd: "web" })
})
