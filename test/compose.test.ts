import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { parse } from "yaml"

interface Service {
  readonly image: string
  readonly user?: string
  readonly command?: string
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: unknown
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const text = readFileSync(new URL("../compose.yaml", import.meta.url), "utf8")
const compose = parse(text, { merge: true, uniqueKeys: true }) as Compose
const services = Object.entries(compose.services)

test("compose.yaml has a store, a migration before all workers, and workers that can be scaled", () => {
  expect(Object.keys(compose.services)).toEqual(["postgres", "migrate", "worker"])
  for (const [name, { image, depends_on = {}, volumes }] of services) {
    expect(image, name).toMatch(/^[a-z]+:\d+$/)
    for (const needed of Object.keys(depends_on)) expect(compose.services, name).toHaveProperty(needed)
    const named = volumes.map((volume) => volume.split(":")[0] ?? "").filter((volume) => !/^[$/]/.test(volume))
    for (const volume of named) expect(compose.volumes, name).toHaveProperty(volume)
  }
  const { postgres, worker } = compose.services
  expect(postgres?.healthcheck).toMatchObject({ test: expect.arrayContaining(["CMD", "pg_isready", "work"]) })
  expect(worker).not.toHaveProperty("container_name")
})

test("compose.yaml gives every worker a data folder of its own, which it may write without being root", () => {
  const { migrate, worker } = compose.services
  const folder = /--data-dir (\S+)/.exec(worker?.command ?? "")?.[1] ?? ""
  const own = worker?.volumes.filter((volume) => !volume.includes(":")) ?? []
  expect(own).toEqual(["/home/node"])
  expect(folder.startsWith(`${own[0]}/`)).toBe(true)
  // The user `node` is the image's, and the volume is filled from its home.
  for (const service of [migrate, worker]) expect(service).toMatchObject({ image: "node:24", user: "node" })
  // Commands run in the folder in which they were asked for.
  expect(worker?.volumes).toContain("${PWD}:${PWD}")
})

test("compose.yaml contains no password: the person who starts it must give one", () => {
  const passwords = services.flatMap(([, { environment }]) =>
    Object.entries(environment).flatMap(([name, value]) => (name.includes("PASSWORD") ? [value] : [])),
  )
  expect(passwords).toHaveLength(3)
  for (const password of passwords) expect(password).toMatch(/^\$\{POSTGRES_PASSWORD:\?.+\}$/)
})

test("compose.yaml starts the program with options that it has", () => {
  const guide = readFileSync(new URL("../docs/guide/program.md", import.meta.url), "utf8")
  const commands = services.flatMap(([, { command }]) => command ?? [])
  expect(commands.map((command) => command.split(" ").slice(0, 3).join(" "))).toEqual([
    "npx meanwhile migrate",
    "npx meanwhile worker",
  ])
  const options = commands.flatMap((command) => command.match(/--[a-z-]+/g) ?? [])
  for (const option of options) expect(guide, option).toContain(`\`${option}`)
})
