import { describe, expect, it } from "vitest"
import { measureComputingMs } from "../../../test/support/computing-time.ts"
import { commandEffects } from "./command-effects.ts"

const check = (command: string, effects: string) => expect(commandEffects(command).join(" ")).toBe(effects)

describe("what a command does to the world", () => {
  it.each([
    "ls -la /etc",
    "cat a b | grep -v x | sort -u | head -n 3",
    "pwd && echo done; sleep 5",
    "find . -name '*.ts' -type f",
    "find src -exec grep -l x {} +",
    "git status --short",
    "git -C web --no-pager log --oneline -5",
    "git diff --exit-code HEAD~1 -- src",
    "git branch -a",
    "git stash list",
    "grep -rn '$(rm x)' src",
    "echo 'a; rm -rf /' \"b && rm\"",
    "ls 2>/dev/null >&2",
    "cat < input.txt",
    "sed -n '1,200p' file.ts",
    "sed 's/a/b/g' file",
    "awk -F: '{print $1, $2}' /etc/passwd",
    'for f in a b; do cat "$f"; done',
    "while IFS= read -r line; do echo $line; done < file",
    "if grep -q x y; then echo yes; else echo no; fi",
    "rg foo \\\n  src",
    "LC_ALL=C sort file",
    "timeout 5 nice -n 10 /usr/bin/wc -l x",
    "git ls-files | xargs wc -l",
    "ls | xargs -I{} cat {}",
    "ls | xargs",
    "sh -c 'ls; pwd'",
    "echo $(cat `ls`)",
    "diff <(ls a) <(ls b)",
    "command -v node",
    "# rm -rf /",
    "(cd a; ls)",
    "",
  ])("reads only: %s", (command) => check(command, ""))

  it.each([
    // writing
    ["echo a > file", "write"],
    ["ls >> log 2>&1", "write"],
    ["ls &> out", "write"],
    ["ls >| out", "write"],
    ["> out", "write"],
    ["for f in a; do ls; done > out", "write"],
    ["ls <> file", "write"],
    ["cat x | tee y", "write"],
    ["mkdir -p a && touch a/b", "write"],
    ["sort -uo out in", "write"],
    ["tree -H . -R -L 1", "write"],
    ["sort --outp=out in", "write"],
    ["uniq in out", "write"],
    ["git diff --output=x", "write"],
    ["git commit -m 'rm -rf /'", "write"],
    ["git branch new", "write"],
    ["find . -fprint out", "write"],
    // deleting
    ["rm -rf build", "delete"],
    ["find . -name x -delete", "delete"],
    ["find . -exec rm {} \\;", "delete"],
    ["ls | xargs rm", "delete"],
    ["git clean -fd", "delete"],
    ["true; (rm x)", "delete"],
    ["ls || { rm x; }", "delete"],
    ["if true; then rm x; fi", "delete"],
    ["cat() { rm x; }; cat", "delete"],
    ["for f in $(rm x); do ls; done", "delete"],
    ['echo "$(rm x)"', "delete"],
    ["echo `rm x`", "delete"],
    ["cat <(rm x)", "delete"],
    ["ls & rm x", "delete"],
    ["ls\nrm x", "delete"],
    ["ls &>/dev/null rm x", "delete"],
    ["bash -lc 'cd a && rm x'", "delete"],
    ["time nice rm x", "delete"],
    ["rm x > y", "write delete"],
    // installing
    ["npm ci", "install"],
    ["npm --prefix web install left-pad", "install"],
    ["pip install -r requirements.txt", "install"],
    ["yarn", "install"],
    ["sudo apt-get -y install curl", "install run_as"],
    // sending
    ["curl -s https://example.com", "send"],
    ["curl -o x https://example.com", "write send"],
    ["wget https://example.com", "write send"],
    ["git push origin main", "send"],
    ["git pull", "write send"],
    ["cat secret | nc host 80", "send"],
    ["cat < /dev/tcp/host/80", "send"],
    ["scp a host:", "send"],
    // as another user
    ["sudo -u deploy ls", "run_as"],
    ["doas rm x", "delete run_as"],
    ["su -c 'ls'", "run_as unknown"],
    ["sudo -i", "run_as unknown"],
  ])("%s: %s", check)

  it.each(["r\\m x", "'rm' x", '"rm" x', "r''m x", "\\rm x", "/bin/rm x", "command rm x", "env a=1 rm x", "! rm x"])(
    "sees through quotes and prefixes: %s",
    (command) => check(command, "delete"),
  )

  it("takes variables of the call into account", () => {
    expect(commandEffects("ls", { LANG: "C" })).toEqual([])
    expect(commandEffects("ls", { PATH: "/tmp" })).toEqual(["unknown"])
  })

  it("does not judge what is too long or too deep to be read, and takes no time for it", () => {
    const texts = [
      `${"(".repeat(16_000)}x`,
      '"$('.repeat(5_000),
      `${"$(".repeat(5_000)}rm${")".repeat(5_000)}`,
      "sudo ".repeat(3_000),
      `sed '${"s/a/b/;".repeat(2_000)}w x'`,
      `sed 's/${"a\\".repeat(7_000)}'`,
      `ls ${" ".repeat(20_000)}`,
    ]
    const tookMs = measureComputingMs(() => {
      for (const text of texts) expect(commandEffects(text), text.slice(0, 20)).toContain("unknown")
    })
    expect(tookMs).toBeLessThan(2_000)
  })
})
