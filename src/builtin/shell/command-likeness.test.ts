import { expect, it } from "vitest"
import { commandLikeness } from "./command-likeness.ts"

it.each([
  ["npm test -- --bail", "npm test -- --bail"],
  ["npm  run build", "npm run build"],
  ["make", "make"],
  ["git push origin main", "git push origin main"],
  ["git bisect run sub/evil.sh", "git bisect run sub/evil.sh"],
  ["make all CC=./x", "make all CC=./x"],
  ["rm -rf build /home/me", "rm -rf build /home/me"],
  ["node -e 'a b'", 'node -e "a b"'],
  ["poetry run pytest -q", "poetry run pytest -q"],
  ["npm --prefix /tmp test", "npm --prefix /tmp test"],
  ["echo '(in' '\"x\")'", 'echo "(in" "\\"x\\")"'],
  // the few commands of which an operand may be any
  ["git commit -m 'one thing'", "git commit -m …"],
  ["git commit -q -am other", "git commit -q -am …"],
  ["git commit -m 'one thing' file", 'git commit -m "one thing" file'],
  ["git commit -F -m x", "git commit -F -m x"],
  ["git commit -m -x", "git commit -m -x"],
  ["git -C sub commit -m x", "git -C sub commit -m x"],
  ["cargo test", "cargo test …"],
  ["cargo test parser::reads other", "cargo test …"],
  ["cargo test --manifest-path x/Cargo.toml", "cargo test --manifest-path x/Cargo.toml"],
  // programs that start others, or may not be the same one elsewhere
  ["docker run -it image", undefined],
  ["npm exec -- anything", undefined],
  ["npm exec anything", undefined],
  ["npm --silent exec anything", undefined],
  ["timeout 5 python3 build.py", undefined],
  ["nohup python3 build.py", undefined],
  ["env python3 build.py", undefined],
  ["sudo ls", undefined],
  ["xargs rm", undefined],
  ["find . -exec rm {} +", undefined],
  ["eval anything", undefined],
  ["source anything", undefined],
  ["/usr/bin/npm test", undefined],
  ["/local/bin/npm test", undefined],
  ["./npm test", undefined],
  ["npm test; rm x", undefined],
  ["npm test $(rm x)", undefined],
  ["npm test > out", undefined],
  ["PATH=/tmp npm test", undefined],
  ["npm $x", undefined],
  ["echo 'open", undefined],
])("commands that are allowed together: %s is one of %s", (command, likeness) => {
  expect(commandLikeness({ command })).toBe(likeness)
})

it("tells commands in other folders from those in the working folder", () => {
  expect(commandLikeness({ command: "npm test", cwd: "." })).toBe("npm test")
  expect(commandLikeness({ command: "npm test", cwd: "vendor/x" })).toBe('npm test (in "vendor/x")')
  expect(commandLikeness({ command: "rm x", cwd: "/" })).toBe('rm x (in "/")')
})

it("finds no likeness where the call sets variables of its own", () => {
  expect(commandLikeness({ command: "npm test", env: { PATH: "/tmp" } })).toBeUndefined()
  expect(commandLikeness("npm test")).toBeUndefined()
})
