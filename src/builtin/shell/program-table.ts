export const CATEGORIES = ["install", "build", "test", "serve", "other"] as const
/** The category of a command, for its duration. `serve`: it runs until it is stopped. */
export type CommandCategory = (typeof CATEGORIES)[number]

/** Subcommands by what they do, as words; `bare` is what the program does without any of them. */
export interface ProgramRule {
  readonly install?: string
  readonly build?: string
  readonly test?: string
  readonly serve?: string
  readonly other?: string
  readonly bare?: CommandCategory
  /** Subcommands after which a name chosen by the project follows; `*`: such a name can stand for a subcommand. */
  readonly names?: string
  /** Options whose value is the next word. */
  readonly valued?: string
}

const PACKAGE_SCRIPTS = { install: "install i ci add update up upgrade", test: "test t", serve: "start" }

/** Programs that share a rule. */
function alike(programs: string, rule: ProgramRule): Readonly<Record<string, ProgramRule>> {
  return Object.fromEntries(programs.split(" ").map((program) => [program, rule]))
}

/** Programs that people run often. A program not listed here is `other`. */
export const PROGRAMS: Readonly<Record<string, ProgramRule>> = {
  npm: {
    ...PACKAGE_SCRIPTS,
    names: "run run-script",
    valued: "--prefix -w --workspace -C",
    other: "view ls list outdated audit publish pack",
  },
  pnpm: {
    ...PACKAGE_SCRIPTS,
    names: "run *",
    valued: "-C --dir -F --filter",
    other: "view ls list outdated audit publish",
  },
  yarn: {
    ...PACKAGE_SCRIPTS,
    names: "run *",
    valued: "--cwd",
    other: "info list outdated audit publish",
    bare: "install",
  },
  bun: { ...PACKAGE_SCRIPTS, build: "build", names: "run" },
  deno: { install: "install add cache", test: "test", build: "compile", names: "task", other: "run fmt lint" },
  ...alike("pip pip3", { install: "install download wheel", other: "list show freeze" }),
  uv: { install: "sync add install lock", other: "venv tree" },
  poetry: { install: "install add update lock", build: "build" },
  ...alike("conda mamba", { install: "install create update" }),
  gem: { install: "install update" },
  bundle: { install: "install update", bare: "install" },
  composer: { install: "install update require" },
  apt: { install: "install update upgrade full-upgrade" },
  "apt-get": { install: "install update upgrade dist-upgrade" },
  ...alike("dnf yum brew", { install: "install update upgrade" }),
  apk: { install: "add update upgrade" },
  cargo: {
    build: "build b check clippy doc bench",
    test: "test t nextest",
    install: "install fetch update",
    other: "run fmt",
  },
  go: { build: "build vet generate", test: "test", install: "get install mod", other: "run fmt" },
  docker: {
    build: "build buildx",
    install: "pull",
    serve: "up",
    other: "run ps images logs exec",
    names: "compose",
    valued: "-f --file -p",
  },
  podman: { build: "build", install: "pull", other: "run ps images logs exec" },
  ...alike("make gmake", { bare: "build", names: "*", valued: "-C -f -I -o -W" }),
  just: { names: "*" },
  cmake: { build: "--build", other: "--install" },
  ...alike("bazel zig", { build: "build", test: "test" }),
  ...alike("gradle gradlew", { build: "build assemble", test: "test check", serve: "bootRun", other: "tasks" }),
  ...alike("mvn mvnw", { build: "package compile install verify deploy", test: "test", serve: "spring-boot:run" }),
  dotnet: { build: "build publish", test: "test", install: "restore", serve: "watch", other: "run" },
  swift: { build: "build", test: "test", other: "run" },
  webpack: { bare: "build", serve: "serve" },
  vite: { bare: "serve", build: "build" },
  next: { serve: "dev start", build: "build" },
  astro: { serve: "dev preview", build: "build" },
  playwright: { test: "test", install: "install" },
  cypress: { test: "run" },
  mix: { test: "test", install: "deps.get", build: "compile", serve: "phx.server" },
  rails: { test: "test", serve: "server s" },
  flask: { serve: "run" },
  ...alike("jest vitest mocha pytest unittest tox nox rspec phpunit ctest prove", { bare: "test" }),
  ...alike("ninja tsc rollup xcodebuild msbuild", { bare: "build" }),
  ...alike("nodemon uvicorn gunicorn http-server http.server watch", { bare: "serve" }),
  git: {
    valued: "-C -c",
    other: "status log diff show add commit push pull fetch clone checkout switch merge rebase stash branch tag",
  },
  kubectl: { serve: "port-forward", other: "get apply delete describe logs exec rollout" },
  terraform: { install: "init", other: "plan apply destroy validate fmt" },
}

/** The words without the options that take a value, and without those values. */
export function withoutValues(rule: ProgramRule, rest: readonly string[]): readonly string[] {
  const valued = rule.valued?.split(" ") ?? []
  return rest.filter((word, index) => !valued.includes(word) && !valued.includes(rest[index - 1] ?? ""))
}
