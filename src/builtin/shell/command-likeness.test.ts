import { expect, it } from "vitest"
import { commandLikeness } from "./command-likeness.ts"

it.each([
  ["npm test -- --bail", "npm test -- --bail"],
  ["npm run build", "npm run build"],
  ["git push origin main", "git push"],
  ["git push --receive-pack=./x origin", "git push --receive-pack=./x"],
  ["git push --receive-pack ./x origin", "git push --receive-pack ./x"],
  ["git push ext::./x", "git push ext::./x"],
  ["git commit -m 'one thing' file", 'git commit -m "one thing"'],
  ["make all CC=./x", "make all CC=./x"],
  ["rm build", "rm"],
  ["rm -rf build", "rm -rf build"],
  ["node build.js --fast", "node build.js --fast"],
  ["go run build.go", "go run build.go"],
  ["poetry run pytest -q", "poetry run pytest -q"],
  ["docker run -it image", undefined],
  ["npm exec -- anything", undefined],
  ["npm exec anything", undefined],
  ["npm --prefix /tmp test", undefined],
  ["make -f /opt/other all", undefined],
  ["timeout 5 python3 build.py", undefined],
  ["nohup python3 build.py", undefined],
  ["env python3 build.py", undefined],
  ["sudo ls", undefined],
  ["xargs rm", undefined],
  ["find . -exec rm {} +", undefined],
  ["eval anything", undefined],
  ["source anything", undefined],
  ["node -e 1", undefined],
  ["npm test; rm x", undefined],
  ["npm test $(rm x)", undefined],
  ["npm test > out", undefined],
  ["PATH=/tmp npm test", undefined],
  ["./npm test", undefined],
  ["npm $x", undefined],
  ["echo 'open", undefined],
])("commands that begin alike: %s is one of %s", (command, likeness) => {
  expect(commandLikeness({ command })).toBe(likeness)
})

it("tells commands in other folders from those in the working folder", () => {
  expect(commandLikeness({ command: "npm test", cwd: "." })).toBe("npm test")
  expect(commandLikeness({ command: "npm test", cwd: "vendor/x" })).toBe('npm test (in "vendor/x")')
  expect(commandLikeness({ command: "rm x", cwd: "/" })).toBe('rm (in "/")')
})

it("finds no likeness where the call sets variables of its own", () => {
  expect(commandLikeness({ command: "npm test", env: { PATH: "/tmp" } })).toBeUndefined()
  expect(commandLikeness("npm test")).toBeUndefined()
})
