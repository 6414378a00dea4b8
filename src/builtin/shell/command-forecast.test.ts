import { describe, expect, it } from "vitest"
import { measureComputingMs } from "../../../test/support/computing-time.ts"
import { forecastCommand } from "./command-forecast.ts"

const install = { afterMs: 5_000, estimateMs: 30_000 }
const build = { afterMs: 5_000, estimateMs: 60_000 }
const test = { afterMs: 5_000, estimateMs: 30_000 }
const serve = { afterMs: 2_000, estimateMs: undefined }
const other = { afterMs: undefined, estimateMs: undefined }

describe("what a command is expected to be", () => {
  it.each([
    // plain
    ["npm install", install, "npm install"],
    ["npm ci --no-audit", install, "npm ci"],
    ["npm install left-pad@1.3.0", install, "npm install"],
    ["pip install -r requirements.txt", install, "pip install"],
    ["apt-get -y install curl", install, "apt-get install"],
    ["make", build, "make"],
    ["make -j 8 all", build, "make all"],
    ["make -C web test", test, "make test"],
    ["make CC=clang", build, "make"],
    ["npm run build", build, "npm run build"],
    ["npm --prefix web run build:prod -- --minify", build, "npm run build:prod"],
    ["yarn build", build, "yarn build"],
    ["cargo build --release", build, "cargo build"],
    ["cmake --build out", build, "cmake --build"],
    ["npm test", test, "npm test"],
    ["npm run test:unit", test, "npm run test:unit"],
    ["pytest tests/test_a.py -k name", test, "pytest"],
    ["go test ./...", test, "go test"],
    ["node --test", test, "node --test"],
    ["npm run dev", serve, "npm run dev"],
    ["npm start", serve, "npm start"],
    ["vite", serve, "vite"],
    ["vite build", build, "vite build"],
    ["tsc --watch", serve, "tsc"],
    ["tail -f server.log", serve, "tail"],
    ["docker compose up", serve, "docker compose up"],
    ["docker build -t app .", build, "docker build"],
    ["ls -la /etc", other, "ls"],
    ["git -C web commit -m 'x'", other, "git commit"],
    ["./scripts/deploy.sh production", other, "deploy.sh"],
    // words that only look like it
    ["echo npm install", other, "echo"],
    ["git commit -m 'make build and npm install'", other, "git commit"],
    ["grep -rn build src", other, "grep"],
    ["cat Makefile # make test", other, "cat"],
    ["npm install --help", other, "npm install"],
    ["ls 'npm install; make'", other, "ls"],
    // looked through
    ["CI=1 NODE_ENV=test npm test", test, "npm test"],
    ["FOO='a b' sudo -u deploy -E npm ci", install, "npm ci"],
    ["sudo env A=1 nice -n 10 make", build, "make"],
    ["timeout -k 5 60 pytest", test, "pytest"],
    ["time npm run build", build, "npm run build"],
    ["npx tsc -p .", build, "tsc"],
    ["npx --yes -p typescript tsc", build, "tsc"],
    ["python3 -m pytest -q", test, "pytest"],
    ["python -m http.server 8000", serve, "http.server"],
    ["poetry run pytest", test, "pytest"],
    ["/usr/local/bin/npm ci", install, "npm ci"],
    ['bash -lc "cd app && npm install"', install, "npm install"],
    // several
    ["cd app && npm install", install, "npm install"],
    ["npm ci && npm run build", { afterMs: 5_000, estimateMs: 90_000 }, "npm ci ; npm run build"],
    ["npm ci; npm run build\nnpm test", { afterMs: 5_000, estimateMs: 120_000 }, "npm ci ; npm run build ; npm test"],
    ["npm test | tee log.txt", test, "npm test"],
    ["npm test 2>&1 | tail -n 20", test, "npm test"],
    ["npm test > out.txt 2> errors.txt", test, "npm test"],
    ["make || npm run build", build, "make || npm run build"],
    ["npm run build && npm run dev", serve, "npm run build ; npm run dev"],
    ["(cd a; make) && (cd b; make)", { afterMs: 5_000, estimateMs: 120_000 }, "make ; make"],
    ["npm run dev & sleep 1", other, "npm run dev ; sleep"],
    ["if [ -f x ]; then npm ci; fi", install, "? ; npm ci"],
    // what cannot be read
    ["for d in a b; do npm ci; done", { ...install, estimateMs: undefined }, "npm ci"],
    ["cat <<EOF\nnpm install\nEOF", other, "cat"],
    ["echo 'open", other, "echo"],
    ["ls \u00a0a", other, "ls"],
    ['$BUILD_TOOL "$@"', other, "?"],
    ["$(which npm) install", other, "?"],
    ["", other, "script"],
  ])("%s", (command, figures, shape) => {
    const { policy, ...forecast } = forecastCommand(command)
    const afterMs = policy.mode === "after" ? policy.ms : null
    expect({ afterMs, ...forecast }).toEqual({ ...figures, shape, isEndless: figures === serve })
  })

  it("keeps values, paths and secrets out of the shape", () => {
    const command =
      "TOKEN=s3cret curl -H 'Authorization: Bearer s3cret' https://s3cret.example && npm run build --token=s3cret"
    expect(forecastCommand(command).shape).toBe("curl ; npm run build")
  })

  it("bounds the shape of a long script", () => {
    const { shape } = forecastCommand(Array.from({ length: 50 }, (_, index) => `program${index}`).join("; "))
    expect(shape.length).toBeLessThan(120)
    expect(shape.endsWith(" …")).toBe(true)
  })

  it("takes no longer for text made to be slow", () => {
    const texts = ["(".repeat(50_000), '"$('.repeat(20_000), "a=1 ".repeat(20_000), `sh -c "${"x ".repeat(20_000)}"`]
    const tookMs = measureComputingMs(() => {
      for (const text of texts) forecastCommand(text)
    })
    expect(tookMs).toBeLessThan(2_000)
  })
})
