import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
export const root = fileURLToPath(new URL("../../..", import.meta.url))

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
  readonly files: readonly string[]
}

export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest
export const optionalPeers = Object.keys(manifest.peerDependenciesMeta)
export const peers = Object.keys(manifest.peerDependencies).filter((name) => !optionalPeers.includes(name))

/** A folder in which the package is installed as it is published. */
export interface Consumer extends Disposable {
  readonly folder: string
  /** Where the package is. */
  readonly installed: string
  write(name: string, source: string): string
  /** Installs packages of this project; `under` another name, if one is given. */
  link(packages: readonly string[], under?: string): void
  /** What the compiler prints about the files, compiled strictly; empty if it finds no error. */
  compile(args: readonly string[]): Promise<string>
}

/** Builds the package, with its dependencies and without its optional peers. */
export async function createConsumer(): Promise<Consumer> {
  const consumer = openConsumer()
  await run(process.execPath, [join(root, "scripts/build.ts"), join(consumer.installed, "dist")])
  for (const name of ["package.json", ...manifest.files.filter((name) => name !== "dist")]) {
    cpSync(join(root, name), join(consumer.installed, name), { recursive: true })
  }
  consumer.link([...Object.keys(manifest.dependencies), ...peers])
  return consumer
}

/** Another consumer of the same build, with another package under the name of one. */
export function createSibling({ installed }: Consumer, name: string, instead: string): Consumer {
  const consumer = openConsumer()
  for (const part of ["dist", "package.json"]) {
    cpSync(join(installed, part), join(consumer.installed, part), { recursive: true })
  }
  consumer.link([...Object.keys(manifest.dependencies), ...peers].filter((one) => one !== name))
  consumer.link([instead], name)
  return consumer
}

function openConsumer(): Consumer {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-package-"))
  const installed = join(folder, "node_modules", "meanwhile")
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n')
  return {
    folder,
    installed,
    write(name, source) {
      const path = join(folder, name)
      writeFileSync(path, source)
      return path
    },
    link(packages, under) {
      for (const name of packages) {
        const target = join(folder, "node_modules", under ?? name)
        mkdirSync(dirname(target), { recursive: true })
        symlinkSync(join(root, "node_modules", name), target)
      }
    },
    async compile(args) {
      const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "esnext"]
      const compiler = join(root, "node_modules/typescript/bin/tsc")
      try {
        return (await run(process.execPath, [compiler, ...options, ...args], { cwd: folder })).stdout
      } catch (error) {
        return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
